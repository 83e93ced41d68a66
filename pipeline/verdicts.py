"""The nine states a call can be in, in the order in which they are decided: one table, and all else reads it.

Adding a state is adding a row here and a case in ``tests/cases``.
"""

from __future__ import annotations

from dataclasses import dataclass

USABLE = "usable"
FINDING = "finding"
CUT = "cut"
UNJUDGED = "unjudged"
OUTCOMES = (USABLE, FINDING, CUT, UNJUDGED)


@dataclass(frozen=True, slots=True)
class State:
    """One verdict: its public name, the outcome it counts towards, what it means, and what repairs it."""

    name: str
    outcome: str
    meaning: str
    repairs: tuple[str, ...] = ()


FREEFORM_NOT_CHECKED = State(
    "freeform-not-checked",
    UNJUDGED,
    "The call is of a custom tool that takes free text: there is no JSON to judge.",
)
ARGUMENTS_TRUNCATED = State(
    "arguments-truncated",
    CUT,
    "The arguments do not parse to an object because the answer was cut off: an output ceiling or a content filter"
    " ended the turn in the middle of this call.",
    (
        "No schema problem: raise the output ceiling (max_output_tokens, max_completion_tokens).",
        "Look at the response's status or finish_reason before touching any of its calls.",
    ),
)
ARGUMENTS_UNPARSEABLE = State(
    "arguments-unparseable",
    FINDING,
    "The arguments do not parse to a JSON object (RFC 8259), and nothing cut them.",
    (
        "Catch the parse error and return it to the model as the tool's result.",
        "Declare the tool strict, so that decoding holds the grammar.",
    ),
)
TOOLS_NOT_RECORDED = State(
    "tools-not-recorded",
    UNJUDGED,
    "The arguments parse, but no tool definitions stand with the call in the log, and none were supplied.",
    ("Log the request, or the tool definitions, beside the response; or supply them with --tools FILE.",),
)
UNKNOWN_TOOL = State(
    "unknown-tool",
    FINDING,
    "The arguments parse and tool definitions are recorded, but none of them has the name that was called.",
    (
        "Answer an unknown name with a tool result that says so.",
        (
            "Check the list of tools that was sent against the handler map: a tool renamed on one side only looks"
            " exactly like this."
        ),
    ),
)
TOOL_SCHEMA_INVALID = State(
    "tool-schema-invalid",
    UNJUDGED,
    "The tool is declared, but its schema cannot be used: it fails its meta-schema, or refers to something that is"
    " not there, or holds a pattern that no ECMA-262 engine takes.",
    ("Mend the tool definition: until then the arguments can neither be cleared nor blamed.",),
)
ARGUMENTS_VIOLATE_SCHEMA = State(
    "arguments-violate-schema",
    FINDING,
    "The arguments are a JSON object, and that object breaks the tool's declared schema.",
    (
        (
            "Validate before dispatch and hand the error back to the model as the tool's result: a returned error"
            " mostly mends the next call."
        ),
        "Declare the tool strict, with additionalProperties: false and every parameter required.",
    ),
)
DISPATCHABLE_UNCONSTRAINED = State(
    "dispatchable-unconstrained",
    USABLE,
    "The arguments match the declared schema, but the tool was not declared strict: true, so nothing guaranteed that"
    " they would.",
    ("This call was fine; declare the tool strict all the same.",),
)
DISPATCHABLE = State(
    "dispatchable",
    USABLE,
    "The arguments match the declared schema, and the tool was strict.",
)

STATES: tuple[State, ...] = (
    FREEFORM_NOT_CHECKED,
    ARGUMENTS_TRUNCATED,
    ARGUMENTS_UNPARSEABLE,
    TOOLS_NOT_RECORDED,
    UNKNOWN_TOOL,
    TOOL_SCHEMA_INVALID,
    ARGUMENTS_VIOLATE_SCHEMA,
    DISPATCHABLE_UNCONSTRAINED,
    DISPATCHABLE,
)
STATE_BY_NAME: dict[str, State] = {state.name: state for state in STATES}

#: What can be wrong with arguments text that does not parse to an object, and what each name means.
FAULTS: dict[str, str] = {
    "absent": "the arguments field is missing or null",
    "not-an-object": "it is JSON, but not an object",
    "double-encoded": "it is a JSON string that holds an encoded object",
    "code-fence": "it is wrapped in a Markdown code fence",
    "trailing-comma": "a comma stands before a closing bracket or brace",
    "single-quotes": "strings or names stand in single quotes",
    "nan-or-infinity": "NaN or Infinity, which JSON does not have",
    "control-character": "a raw control character stands inside a string",
    "bad-escape": "a string holds a backslash escape that JSON does not have",
    "trailing-text": "text follows the object",
    "several-documents": "several JSON documents are glued together",
    "cut-off": "the text ends before the document does",
    "too-deep": "it is nested deeper than can be judged",
    "not-json": "it is not JSON",
}
