"""Text -> records: JSON Lines, JSON arrays, one document or many, pretty or not, in any order in one file.

A file's layout is not decided once for all. At every place where a document may begin, the next bytes say what it is:

- a line that begins with ``{`` and ends with ``}`` is a record as it stands, and is not looked into: whether it parses
  is for the decoder to say. Whole chunks of such lines are taken at once, which is what keeps a large log fast;
- any other ``{`` begins a document of several lines, or a line that is torn: brackets and quotes tell (``documents``);
- a ``[`` before an object, an array or several values opens a container, whose elements are records, read one by one;
- a line of anything else is a record where it is a scalar, and one reject where it is not.

``}``, a line feed and ``{`` in a row cannot stand in any JSON value: there, whatever was open is given up, and reading
starts afresh. So a file may be cut at any such place, and the pieces read by themselves (``splits``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pipeline.records import LineBlock, RecordBlock, Reject
from pipeline.sources.documents import BRACE, BRACKET, BRACKET_END, COMMA, Scan, is_scalar, trim
from pipeline.sources.gathering import Gathering
from pipeline.sources.lines import Lines
from pipeline.sources.objects import object_end
from pipeline.sources.window import Window

#: A longer record is a reject.
MAX_RECORD_BYTES = 1 << 28
#: A longer line is not taken by its ends, but looked into, so that glued documents need not be held all at once.
MAX_LINE_BYTES = 1 << 22

TORN = "cut off: the document that begins here is never closed"
NOT_JSON = "not JSON"
ARRAY_NOT_CLOSED = "cut off: the array of the records before is never closed"

_BOM = b"\xef\xbb\xbf"
_EXCERPT_BYTES = 120
_LOOKAHEAD_BYTES = 4096
_ARRAY_OF_RECORDS = re.compile(
    rb'\[[ \t\r\n]*+(?:[{\[\]]|(?:"(?:[^"\\\n]++|\\[^\n])*+"|-?[0-9][-+.0-9eE]*+|true|false|null)[ \t\r\n]*+,)'
)
_COMMA_GAP = re.compile(rb"[ \t\r\n]*+,[ \t\r\n]*+(?=\{)")
_LINE_GAP = re.compile(rb"[ \t\r]*+\n[ \t\r\n]*+(?=\{)")
_HEAD = re.compile(rb'[{\[][ \t\r\n]{0,40}+(?:"[^"\\\n]{1,40}+"[ \t]{0,4}+:[ \t]{0,4}+(?:"(?:[a-z]{2,12}+[_-])?)?)?')
_LONGEST_GAP_BYTES = 128
_ELEMENT = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+"?|[^,\[\]{"\n]++')


class Framer:
    """Reads the records out of a window. Memory: the window, what is gathered for a block, and the largest record."""

    def __init__(self, window: Window, source_file: str, block_bytes: int, max_record_bytes: int) -> None:
        self._window = window
        self._source_file = source_file
        self._found = Gathering(source_file)
        self._lines = Lines(window, self._found, min(MAX_LINE_BYTES, max_record_bytes))
        self._block_bytes = block_bytes
        self._longest = max_record_bytes
        self._in_array = False
        self._after_document = False
        self._previous: int | None = None  # where the document just before this one ended
        self._doomed: dict[int, int] = {}  # beginnings known to be torn, with the place to go on from
        self._doomed_until = 0
        self._fault_told = False

    def blocks(self, *, whole_lines: bool) -> Iterator[RecordBlock | LineBlock]:
        """All there is, in blocks of about ``block_bytes``; the last one, perhaps empty, says where the text ends.

        With ``whole_lines``, lines that look like a record each come out as they are.
        """
        window = self._window
        while True:
            if whole_lines and not self._in_array:
                lines = self._lines.take_block(self._source_file)
                if lines is not None:
                    if self._found.weight:
                        yield self._found.block(lines.offsets[0], lines.first_line)
                    self._previous, self._after_document = None, True
                    yield lines
                    continue
            if not (self._element() if self._in_array else self._document()):
                break
            if self._found.weight >= self._block_bytes:
                yield self._found.block(window.offset, window.line)
        if window.fault and not self._fault_told:
            self._reject(window.at, window.fault)
        yield self._found.block(window.offset, window.line, unterminated=not window.line_is_blank)

    def _document(self) -> bool:
        """Read what begins here outside of any array; false at the end of the text."""
        window = self._window
        if not window.skip_blanks():
            return False
        byte = window.data[window.at]
        if byte == BRACE:
            if self._lines.take():
                self._previous, self._after_document = None, True
            else:
                self._value()
        elif byte == BRACKET:
            self._bracket()
        elif byte == COMMA and self._after_document:
            window.advance(window.at + 1)
        elif byte == _BOM[0] and self._byte_order_mark():
            window.at += len(_BOM)
        else:
            self._text_line()
        return True

    def _element(self) -> bool:
        """Read what comes next inside an array; false at the end of the text."""
        window = self._window
        if not window.skip_blanks():
            self._leave_array()
            return False
        byte = window.data[window.at]
        if byte == BRACE and window.data[max(0, window.at - 3) : window.at].endswith((b"}\n", b"}\r\n")):
            self._leave_array()
        elif byte in (BRACE, BRACKET):
            self._value()
        elif byte == COMMA:
            window.advance(window.at + 1)
        elif byte == BRACKET_END:
            window.advance(window.at + 1)
            self._in_array, self._after_document, self._previous = False, True, None
        else:
            self._scalar_element()
        return True

    def _leave_array(self) -> None:
        """Give up an array that is not closed; what is torn in it has been told already."""
        self._in_array, self._previous = False, None
        if not self._found.torn:
            self._reject(self._window.at, ARRAY_NOT_CLOSED)

    def _bracket(self) -> None:
        """Go into an array of records; anything else in brackets is a line of text, as loggers begin theirs."""
        window = self._window
        window.need(_LOOKAHEAD_BYTES)
        if _ARRAY_OF_RECORDS.match(window.data, window.at, window.at + _LOOKAHEAD_BYTES):
            window.advance(window.at + 1)
            self._in_array, self._previous, self._found.torn = True, None, False
        else:
            self._text_line()

    def _byte_order_mark(self) -> bool:
        self._window.need(len(_BOM))
        return self._window.line_is_blank and self._window.data.startswith(_BOM, self._window.at)

    def _value(self) -> None:
        """Read an object or an array as one record, to where it ends or cannot go on."""
        window = self._window
        if window.offset in self._doomed:
            self._give_up(self._doomed[window.offset])
        elif window.data[window.at] == BRACKET or not self._objects():
            self._scan()

    def _objects(self) -> bool:
        """Take an object that parses, and those that follow it as in an array or line by line; false: it does not."""
        window = self._window
        end = object_end(window.data, window.at)
        if end < 0 and not window.ended and len(window.data) - window.at < self._block_bytes:
            window.grow()
            end = object_end(window.data, window.at)
        if not 0 < end - window.at <= self._longest:
            return False
        data, at, line = window.data, window.at, window.line
        gap = _COMMA_GAP if self._in_array else _LINE_GAP
        one_line = data.find(b"\n", at) < 0
        while True:
            self._found.add(data[at:end], line, window.base + at)
            between = gap.match(data, end)
            following = between.end() if between else end
            next_end = object_end(data, following) if between else -1
            # Outside of arrays, what stands on a line with others belongs to the line.
            if not 0 < next_end - following <= self._longest or not (self._in_array or _LINE_GAP.match(data, next_end)):
                break
            line += 0 if one_line else data.count(b"\n", at, following)
            at, end = following, next_end
        window.leap(end, line if one_line else line + data.count(b"\n", at, end))
        self._document_ended()
        return True

    def _scan(self) -> None:
        """Find the end of a document by its brackets and quotes."""
        window = self._window
        window.need(_LOOKAHEAD_BYTES)
        start, line = window.offset, window.line
        excerpt = window.data[window.at : window.at + _EXCERPT_BYTES]
        scan = Scan(start, window.indent)
        while not scan.run(window.data, window.base, window.ended):
            if scan.at - start > self._longest:
                window.advance(scan.at - window.base)  # it will be a reject: let go of it as it is read
            window.grow()
        end = scan.end or scan.torn or start
        if end - start > self._longest:
            size = trim(window.data, 0, end - window.base) + window.base - start
            self._too_long(line, start, size, excerpt)
            window.advance(end - window.base)
        elif scan.end is None:
            self._torn(scan, end)
        else:
            self._found.add(window.data[window.at : end - window.base], line, start)
            window.advance(end - window.base)
            self._document_ended()

    def _document_ended(self) -> None:
        self._previous, self._after_document = self._window.offset, True

    def _torn(self, scan: Scan, torn: int) -> None:
        """Give up a document that cannot go on at ``torn``, and go back to the first line that may be another one."""
        window = self._window
        stops = [*scan.restarts, torn]
        if window.offset > self._doomed_until:
            self._doomed.clear()
        self._doomed_until = max(self._doomed_until, torn)
        following = dict(pairwise(stops))
        self._doomed.update((offset, following[offset]) for offset in scan.unclosed)
        stop = stops[0]
        # A quote that is never closed turns all that follows inside out, down to the end of the line. In an array, the
        # bytes between the last element and this one, with the beginning of this one, may show where the next begins.
        if self._in_array and self._previous is not None and window.offset - self._previous < _LONGEST_GAP_BYTES:
            gap = window.data[self._previous - window.base : window.at]
            head = _HEAD.match(window.data, window.at)
            found = window.data.find(gap + head[0], window.at + 1, stop - window.base) if head else -1
            stop = window.base + found if found >= 0 else stop
        self._give_up(stop)

    def _give_up(self, stop: int) -> None:
        self._reject(stop - self._window.base, TORN)
        self._previous = None

    def _scalar_element(self) -> None:
        """Read something in an array that is neither an object nor an array, up to the next comma, bracket or line."""
        window = self._window
        while True:
            match = _ELEMENT.match(window.data, window.at)
            end = match.end() if match else window.at + 1
            if end < len(window.data) - 1 or window.ended or end - window.at > self._longest:
                break
            window.grow()
        self._scalar(min(end, window.at + self._longest))

    def _text_line(self) -> None:
        """Read a line that is neither an object nor an array: a record if it is a scalar, else a reject."""
        window = self._window
        window.need(_EXCERPT_BYTES)
        end = window.line_end(self._longest)
        if end >= 0:
            self._scalar(end)
            return
        start, line = window.offset, window.line
        excerpt = window.data[window.at : window.at + _EXCERPT_BYTES]
        while (end := window.data.find(b"\n", window.at)) < 0:
            window.advance(len(window.data))
            if window.ended:
                end = window.at
                break
            window.grow()
        size = trim(window.data, 0, end) + window.base - start
        self._too_long(line, start, size, excerpt)
        window.advance(end)

    def _scalar(self, end: int) -> None:
        window = self._window
        text = window.data[window.at : trim(window.data, window.at, end)]
        if not is_scalar(text) or (window.fault and end == len(window.data)):
            self._reject(end, NOT_JSON)
            return
        self._found.add(text, window.line, window.offset)
        window.advance(end)
        self._previous, self._after_document = None, True

    def _reject(self, end: int, reason: str) -> None:
        """Give up the text up to ``data[end]`` and move on there. A file that is torn there says so instead."""
        window = self._window
        if window.fault and end == len(window.data):
            reason, self._fault_told = window.fault, True
        size = trim(window.data, window.at, end) - window.at
        head = window.data[window.at : window.at + _EXCERPT_BYTES]
        self._tell(window.line, window.offset, size, reason, head)
        if end > window.at:
            window.advance(end)

    def _too_long(self, line: int, start: int, size: int, head: bytes) -> None:
        self._tell(line, start, size, f"longer than {self._longest:,} bytes", head)

    def _tell(self, line: int, start: int, size: int, reason: str, head: bytes) -> None:
        excerpt = head[: min(size, _EXCERPT_BYTES)].decode("utf-8", "replace")
        self._found.reject(Reject(line, start, size, reason, excerpt))
        self._previous, self._after_document = None, False
