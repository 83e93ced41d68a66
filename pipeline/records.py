"""The values that travel through the pipeline: records as they lie in a log, turns and calls as a model made them.

Plain mutable structs without garbage-collector tracking where a log of a gigabyte makes millions of them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

#: How the arguments stood in the record: JSON text in a string, the parsed object itself, not at all (absent or
#: null), or some other JSON value.
FORM_TEXT = "text"
FORM_OBJECT = "object"
FORM_ABSENT = "absent"
FORM_OTHER = "other"


class Reject(Struct, frozen=True):
    """A record, or what should have been one, that cannot be read. ``offset`` counts bytes of the decompressed file.

    ``line`` is 1-based; ``size_bytes`` is the length of what was given up; ``excerpt`` its beginning, for a person.
    """

    line: int
    offset: int
    size_bytes: int
    reason: str
    excerpt: str = ""


class Unrecognised(Struct, frozen=True):
    """A record that is JSON and holds no answer we know how to read: why, and the keys it has."""

    line: int
    offset: int
    reason: str
    keys: tuple[str, ...] = ()


class RecordBlock(Struct):
    """Some consecutive records of one file, as bytes, with where each begins; and what could not be framed at all.

    ``raws[i]`` is one JSON document in UTF-8 (not yet known to parse), ``lines[i]`` its 1-based line and
    ``offsets[i]`` its byte offset in the decompressed, UTF-8 text of the file. ``end_offset`` and ``end_line`` say
    where the next block begins; ``unterminated`` is set when the last record was ended by the end of the file and
    not by a line feed, so that a file still being written may yet continue it.
    """

    source_file: str
    raws: list[bytes]
    lines: list[int]
    offsets: list[int]
    rejects: list[Reject] = field(default_factory=list)
    end_offset: int = 0
    end_line: int = 1
    unterminated: bool = False

    @property
    def last_line(self) -> int:
        """Line of the last record; there must be one."""
        return self.lines[-1]

    @property
    def last_is_closed(self) -> bool:
        """Whether the last record ends as an object or an array does, so that nothing can be added to it."""
        return self.raws[-1].endswith((b"}", b"]"))


class LineBlock(Struct):
    """Some consecutive lines of one file, each of which begins with ``{``: most likely a record each, not looked into.

    They are ``text[:end]``, which ends where a line does, after a ``}``; ``begins`` are where each begins in it, and
    ``offsets`` where in the decompressed, UTF-8 text of the file; ``first_line`` is the first one's number. What the
    lines are is for the reader to find out, all at once; if it cannot, ``sources.frame_lines`` makes records of them.
    The text is valid until the next block is asked for. ``end_offset``, ``end_line`` and ``unterminated`` as in
    :class:`RecordBlock`.
    """

    source_file: str
    text: bytes | bytearray
    end: int
    begins: list[int]
    offsets: list[int]
    first_line: int
    end_offset: int
    end_line: int
    unterminated: bool = False
    rejects: tuple[Reject, ...] = ()
    last_is_closed: bool = True

    @property
    def last_line(self) -> int:
        """Number of the last line."""
        return self.first_line + len(self.offsets) - 1


class Call(Struct, gc=False):
    """One function call of a turn, before it is judged.

    ``arguments`` is JSON text whatever ``arguments_form`` it had in the record, or None where it was absent.
    ``item_incomplete``: the call's own item says that it was cut.
    """

    call_id: str | None
    tool_name: str | None
    tool_namespace: str | None
    arguments: str | None
    arguments_form: str = FORM_TEXT
    freeform: bool = False
    item_incomplete: bool = False


class Turn(Struct):
    """One answer of a model: the tools it was shown (by toolset number, None where not recorded) and its calls.

    ``created_at_us`` is microseconds since 1970 UTC. ``truncation`` names the evidence that the turn was cut at a
    ceiling, ``token_limit_reached`` the weaker one that the recorded output tokens reached the recorded limit.
    ``allowed_tools`` holds the names that tool_choice narrowed the turn to, None where it did not.
    """

    format: str
    response_id: str | None
    model: str | None
    created_at_us: int | None
    response_status: str | None
    finish_reason: str | None
    truncation: str | None
    token_limit_reached: bool
    toolset: int | None
    calls: list[Call]
    choice_index: int = 0
    parallel_tool_calls: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    allowed_tools: frozenset[str] | None = None


class ToolDefinition(Struct, frozen=True):
    """One declared tool. ``key`` is a digest of all that is below it; ``parameters`` is JSON text, None where absent.

    ``strict`` is true only where the definition's own flag is ``true``; ``freeform`` marks a custom tool.
    """

    key: str
    name: str
    namespace: str | None
    strict: bool
    freeform: bool
    description: str | None
    parameters: str | None


class Violation(Struct, frozen=True):
    """One way in which a call's arguments break the schema. ``schema_path`` is a JSON pointer into the schema."""

    keyword: str
    path: str
    path_pattern: str
    schema_path: str
    expected: str
    got: str
    message: str


JSONValue = Any  # what a JSON parser returns: dict, list, str, int, float, bool or None
