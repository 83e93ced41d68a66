from __future__ import annotations

import json

import pytest

from pipeline.jsontext import Parsed, parse_arguments
from pipeline.toolschema import UnjudgeableError, compile_schema

#: Pattern, text, and whether ECMA-262 finds the pattern in it.
MATCHES: list[tuple[str, str, bool]] = [
    (r"^\d+$", "12", True),
    (r"^\d+$", "12\n", False),
    (r"^\d+$", "\u0662", False),
    (r"[^\d]", "\u0662", True),
    (r"^\w+$", "é", False),
    (r"^[\W]$", "é", True),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\u2003", True),
    (r"^\s$", "\u0085", False),
    (r"^.$", "\n", False),
    (r"^.$", "\u2028", False),
    (r"^.$", "😀", True),
    (r"[A-Z]{2}", "xxABxx", True),
    (r"\bfoo\b", "éfooé", True),
    (r"\bfoo\b", "xfoo", False),
    (r"\Bfoo", "éfoo", False),
    (r"\Bfoo", "xfoo", True),
    (r"^\p{L}+$", "é", True),
    (r"^\p{Lu}$", "é", False),
    (r"^\p{Script=Greek}$", "\u03b1", True),
    (r"^\P{L}$", "1", True),
    (r"(?<=a)b", "ab", True),
    (r"(?<=a+)b", "aab", True),
    (r"(?<!a)b", "ab", False),
    (r"^(?!.*\.\.).+$", "a..b", False),
    (r"^(?<y>a|b)\k<y>$", "bb", True),
    (r"^(?<y>a|b)\k<y>$", "ab", False),
    (r"^(a)(b)\2\1$", "abba", True),
    (r"(?i:a)b", "Ab", True),
    (r"a\/b", "a/b", True),
    (r"^[\w\-]+$", "a-b", True),
    (r"^[\w.-]+$", "a.-", True),
    (r"\-\_\@\#\ \"\:\<\>", '-_@# ":<>', True),
    (r"\<b\>", "<b>", True),
    (r"\cA\x41\u0042\u{43}\0", "\x01ABC\0", True),
    (r"\uD83D\uDE00", "😀", True),
    (r"^\ud83d$", "\ud83d", True),
    (r"[\ud800-\udfff]", "\ud83d", True),
    (r"[\ud800-\udfff]", "😀", False),
    (r"[\b]", "\b", True),
    (r"[]", "a", False),
    (r"^[^]$", "\n", True),
    (r"[[]", "[", True),
    (r"^[[:alpha:]]$", "a]", True),
    (r"^[a&&b]$", "&", True),
    (r"^[a~~b]$", "~", True),
    (r"^{.*}$", "{x}", True),
    (r"^a{$", "a{", True),
    (r"^a{,3}$", "a{,3}", True),
    (r"^a{2,}?$", "aaa", True),
    (r"^]$", "]", True),
    (r"a|", "zz", True),
    (r"", "", True),
    (r"^$", "\n", False),
    (r"^(a+)+$", "a" * 200 + "!", False),
]

#: What no ECMA-262 engine takes, or only without the u flag and in a sense that nobody means.
REFUSED: list[str] = [
    *("(", ")", "(a", "[a", "[z-a]", "a**", "*a", "a++", "a?+", "a{1}{2}", "x{2,1}", "a{1}+", "\\"),
    *("(?P<n>a)", "(?P=n)", "(?i)a", "(?m)^a", "(?s).", "(?x)a", "(?#c)a", "(?>a)", "(?<a-b>x)", "(?<n>a)(?<n>b)"),
    *(r"\Aa", r"a\Z", r"a\z", r"\h", r"\R", r"\X", r"\K", r"\G", r"\Q.\E", r"\a", r"\e", r"\pL", r"\p{Foo}"),
    *(r"\1", r"(a)\2", r"\k<n>", r"\8", r"\01", r"\u12", r"\u{110000}", r"\x1", r"\c1", r"[\B]", r"[\1]"),
]


@pytest.mark.parametrize(("pattern", "text", "found"), MATCHES)
def test_a_pattern_means_what_ecma_262_has_it_mean(pattern: str, text: str, found: bool) -> None:
    schema = compile_schema(json.dumps({"properties": {"t": {"pattern": pattern}}}))
    names = compile_schema(json.dumps({"patternProperties": {pattern: False}}))
    arguments = parse_arguments(json.dumps({"t": text}))
    keyed = parse_arguments(json.dumps({text: 1}))

    assert isinstance(arguments, Parsed)
    assert isinstance(keyed, Parsed)
    assert (schema.error, names.error) == (None, None)
    assert schema.is_valid(arguments.value) is found
    assert names.is_valid(keyed.value) is not found


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_pattern_that_no_ecma_262_engine_takes_makes_the_schema_unusable(pattern: str) -> None:
    for schema in ({"properties": {"t": {"pattern": pattern}}}, {"patternProperties": {pattern: {}}}):
        error = compile_schema(json.dumps(schema)).error

        assert error is not None
        assert json.dumps(pattern) in error


def test_a_violation_shows_the_pattern_as_it_was_written() -> None:
    schema = compile_schema(json.dumps({"patternProperties": {r"^x\b": {"pattern": r"\bfoo\b"}}}))

    (violation,) = schema.violations({"x": "bar"})

    assert violation.expected == r'text that matches the pattern "\\bfoo\\b"'
    assert violation.schema_path == r"/patternProperties/^x\b/pattern"
    assert violation.path_pattern == "arguments.*"


def test_patterns_are_left_alone_where_the_word_is_a_name_or_a_value() -> None:
    schema = {
        "properties": {"pattern": {"type": "string"}, "p": {"enum": [{"pattern": "a++"}]}},
        "default": {"pattern": "("},
    }

    compiled = compile_schema(json.dumps(schema))

    assert compiled.error is None
    assert compiled.violations({"pattern": "(", "p": {"pattern": "a++"}}) == ()


@pytest.mark.parametrize("pattern", ["^(a|a)*(?!b)$", "(x+x+)+y(?!z)", r"(a*)*\1$"])
@pytest.mark.parametrize("wrap", [lambda inner: inner, lambda inner: {"anyOf": [inner, inner]}])
def test_a_pattern_that_backtracks_without_end_clears_and_blames_nobody(pattern: str, wrap: object) -> None:
    schema = compile_schema(json.dumps({"properties": {"t": wrap({"pattern": pattern})}}))  # type: ignore[operator]
    value = {"t": "a" * 50 + "x" * 50 + "!"}

    with pytest.raises(UnjudgeableError, match="backtracks"):
        schema.violations(value)
    assert not schema.is_valid(value)


@pytest.mark.parametrize(
    "pattern", ["(" * 50_000 + ")" * 50_000, "(?=" * 50_000, "(?:" * 60 + "a" + "){9}" * 60, "[" * 50_000]
)
def test_a_monstrous_pattern_is_refused(pattern: str) -> None:
    error = compile_schema(json.dumps({"pattern": pattern})).error

    assert error is not None
    assert len(error) < 400
