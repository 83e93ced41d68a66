"""Blocks of cells as a table: drawn to the width of a terminal, or plain and whole for a pipe."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 2
#: A column of text may be folded down to this many cells; numbers are never folded.
LEAST_TEXT_CELLS = 8

Block = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Heading:
    """Name of a column, and whether it stands to the right, as numbers do."""

    name: str
    right: bool


def plain(columns: Sequence[Heading], block: Block, head: bool) -> str:
    """Aligned columns without lines or folding; the names first where ``head`` is set."""
    rows = [[column.name for column in columns], *block] if head else list(block)
    widths = [max(cell_len(row[i]) for row in rows) for i in range(len(columns))]
    lines = []
    for row in rows:
        padded = []
        for text, width, column in zip(row, widths, columns, strict=True):
            blanks = " " * (width - cell_len(text))
            padded.append(blanks + text if column.right else text + blanks)
        lines.append((" " * GAP).join(padded).rstrip() + "\n")
    return "".join(lines)


def drawn(columns: Sequence[Heading], block: Block, width: int) -> str:
    """Table no wider than ``width`` cells; where its numbers alone would not fit, each row as a list of its columns."""
    least = sum(GAP + _least_width(column, [row[i] for row in block]) for i, column in enumerate(columns))
    table = _list_table(columns, block) if least > width and block else _grid(columns, block)
    # A terminal is forced because the text goes there by way of a string; NO_COLOR and TERM still count.
    console = Console(file=io.StringIO(), width=width, force_terminal=True, highlight=False, emoji=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def _least_width(column: Heading, cells: Sequence[str]) -> int:
    longest = max((cell_len(text) for text in cells), default=0)
    word = max(cell_len(part) for part in column.name.split("_"))
    return max(word, longest if column.right else min(longest, LEAST_TEXT_CELLS))


def _grid(columns: Sequence[Heading], block: Block) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        least = _least_width(column, [row[i] for row in block])
        table.add_column(
            Text(column.name.replace("_", " ")),
            justify="right" if column.right else "left",
            vertical="top",
            overflow="fold",
            min_width=least,
            # A long name over short numbers is folded, so that the text beside them gets the room.
            max_width=least if column.right else None,
        )
    for row in block:
        table.add_row(*map(Text, row))
    return table


def _list_table(columns: Sequence[Heading], block: Block) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), show_header=False)
    table.add_column(justify="left", style="bold", no_wrap=True)
    table.add_column(justify="left", overflow="fold")
    for row in block:
        for column, text in zip(columns, row, strict=True):
            table.add_row(Text(column.name), Text(text))
        table.add_row()
    return table
