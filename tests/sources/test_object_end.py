"""The quick way to the end of an object works, and gives way where it must."""

from __future__ import annotations

import pytest

from pipeline.sources.objects import object_end


@pytest.mark.parametrize(
    ("data", "start", "end"),
    [
        (b'[{"a":"}"} , {"b":2}]', 1, 10),
        (b'{"a":1}\n{"b":2}', 0, 7),
        (b'{"a":1}{"b":2}', 7, 14),
        (b'{"a":1} \r\n', 0, 7),
        (b'{"a":1}\xff', 0, 7),
        (b'{"a":', 0, -1),
        (b'{"a":NaN},', 0, -1),
        (b'{"a":"x\ny"},', 0, -1),
        (b'{"a":"\\ud800"},', 0, -1),
        (b'{"a":' + b"[" * 9999 + b"]" * 9999 + b"},", 0, -1),
    ],
)
def test_the_end_of_an_object_is_what_the_parser_says_or_unknown(data: bytes, start: int, end: int) -> None:
    assert object_end(data, start) == end
