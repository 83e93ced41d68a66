"""Log files -> records: find files, cut them into splits, read a slice as blocks of JSON documents."""

from pipeline.sources.documents import BLANKS, split_documents
from pipeline.sources.framing import MAX_RECORD_BYTES
from pipeline.sources.paths import STDIN, find_files
from pipeline.sources.reading import frame_lines, read_blocks
from pipeline.sources.splits import FileSlice, Split, can_be_resumed, plan_splits

__all__ = [
    "BLANKS",
    "MAX_RECORD_BYTES",
    "STDIN",
    "FileSlice",
    "Split",
    "can_be_resumed",
    "find_files",
    "frame_lines",
    "plan_splits",
    "read_blocks",
    "split_documents",
]
