"""The quick way for logs whose records are all of one kind, exactly as the API writes them."""

from pipeline.formats.plain.reader import KINDS, PlainReader

__all__ = ["KINDS", "PlainReader"]
