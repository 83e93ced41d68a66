"""A file's bytes -> UTF-8 text in chunks, whatever the file is called: compression and encoding are told by content."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from pipeline.sources.compression import bunzip, gunzip, unzstd
from pipeline.sources.streams import ChunkStream, Fault, PrefixedStream, Stream, chunks_of

_HEAD_BYTES = 4096
_DECOMPRESSORS: tuple[tuple[bytes, Callable[[Iterator[bytes]], Iterator[bytes]]], ...] = (
    (rb"\x1f\x8b", gunzip),
    (rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", unzstd),  # a frame, or a skippable one
    (rb"BZh[1-9](?:\x31\x41\x59\x26\x53\x59|\x17\x72\x45\x38\x50\x90)", bunzip),
)
# Without a byte order mark, UTF-16 shows by the zero beside the first byte of JSON.
_ENCODINGS: tuple[tuple[bytes, str], ...] = (
    (rb"\xff\xfe\0\0", "utf-32-le"),
    (rb"\0\0\xfe\xff", "utf-32-be"),
    (rb"\xff\xfe|[\[{ \t\r\n]\0[^\0]\0", "utf-16-le"),
    (rb"\xfe\xff|\0[\[{ \t\r\n]\0[^\0]", "utf-16-be"),
)
_BINARIES: tuple[tuple[bytes, str], ...] = (
    (rb"PAR1", "Parquet"),
    (rb"ARROW1", "Arrow"),
    (rb"Obj\x01", "Avro"),
    (rb"SQLite format 3\0", "SQLite"),
    (rb"PK(?:\x03\x04|\x05\x06)", "a zip archive"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (rb"\xfd7zXZ\0", "xz"),
    (rb"\x04\x22\x4d\x18", "lz4"),
    (rb"(?s:.{257}ustar)", "a tar archive"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "an image"),
    (rb"%PDF-", "PDF"),
    (rb"\x7fELF", "a program"),
    (rb"\x80[\x02-\x05]", "a Python pickle"),
)
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\x0b\x0c\r\x1b")


class Text(Struct):
    """What a file holds, as UTF-8.

    ``binary`` says what the file is instead of text, None where it is text. ``plain``: the text is the file's own
    bytes, so that offsets in one are offsets in the other.
    """

    stream: Stream
    binary: str | None
    plain: bool


def decode(stream: Stream) -> Text:
    """Find out what a file is from its beginning, and decompress and decode it as it is read.

    A byte order mark of UTF-8 is left in the text, one of UTF-16 or UTF-32 is not. Invalid UTF-8 is left as it is;
    a lone surrogate of UTF-16 becomes the three bytes that UTF-8 does not allow for it.
    """
    head, stream = _peek(stream)
    plain = True
    for magic, decompress in _DECOMPRESSORS:
        if re.match(magic, head):
            head, stream = _peek(ChunkStream(decompress(chunks_of(stream))))
            plain = False
            break
    for magic, encoding in _ENCODINGS:
        if re.match(magic, head):
            return Text(ChunkStream(_transcode(chunks_of(stream), encoding)), None, False)
    return Text(stream, _binary(head), plain)


def _peek(stream: Stream) -> tuple[bytes, Stream]:
    """The first 4 KiB, and the stream with them put back."""
    head = b""
    while len(head) < _HEAD_BYTES and (chunk := stream.read(_HEAD_BYTES - len(head))):
        head += chunk
    return head, PrefixedStream(head, stream)


def _binary(head: bytes) -> str | None:
    for magic, name in _BINARIES:
        if re.match(magic, head):
            return f"not text: looks like {name}"
    # JSON and logs have no control characters; a few are damage in a log, many are another kind of file.
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return "not text: the file begins with binary data" if controls * 10 > len(head) else None


def _transcode(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    beginning = True
    try:
        for chunk in chunks:
            text = decoder.decode(chunk)
            if text and beginning:
                text, beginning = text.removeprefix("\ufeff"), False
            yield text.encode("utf-8", "surrogatepass")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        yield error.object[: error.start].decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
        raise Fault(f"the text is not {encoding.upper()} here ({error.reason})") from error
