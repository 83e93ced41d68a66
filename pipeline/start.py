"""Where the process begins: the command ``dispatchable``, and ``python -m pipeline``. Nothing else imports this file.

pyarrow imports numpy and pandas where they are installed, to convert to and from them. No command here asks for that,
and importing the two takes longer than all the rest together; so pyarrow is imported without them.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import cast

_UNUSED = ("numpy", "pandas")
_ARROW_COMMANDS = frozenset({"check", "ingest", "report", "sql"})
_READING_COMMANDS = frozenset({"check", "ingest"})


def _import_pyarrow_alone() -> None:
    """Import pyarrow as it is where neither library is installed, and leave both importable for others."""
    # An allocator that comes with Arrow, and is not the one it uses, would start a thread as soon as it is loaded; and
    # only a process without threads can fork its workers.
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    absent = [name for name in _UNUSED if name not in sys.modules]
    for name in absent:
        sys.modules[name] = cast("ModuleType", None)  # what the import system takes for "not there"
    try:
        import pyarrow as pa

        _import_kernels()
        pa.array(["now it looks for pandas, and remembers"])
    finally:
        for name in absent:
            del sys.modules[name]


def _import_kernels() -> None:
    """Import ``pyarrow.compute``, which would look for numpy by itself, without the docstrings that it composes.

    It takes apart the documentation of every kernel's options and puts it together again. That, and importing the
    parser for it, is more than half of its import, and nobody reads it here.
    """
    parser = ModuleType("pyarrow.vendored.docscrape")
    parser.__dict__["NumpyDocString"] = lambda _text: {"Parameters": ()}
    if parser.__name__ in sys.modules:
        return
    sys.modules[parser.__name__] = parser
    # A release of Arrow that wants more of its parser imports the real one where a kernel is first used.
    with suppress(AttributeError, ImportError, LookupError, TypeError):
        import_module("pyarrow.compute")
    del sys.modules[parser.__name__]


def main() -> None:
    """Run the command line."""
    if not _READING_COMMANDS.isdisjoint(sys.argv):
        from pipeline.workers import leave_garbage

        leave_garbage()
    if not _ARROW_COMMANDS.isdisjoint(sys.argv):
        _import_pyarrow_alone()
    from pipeline.cli import main as command_line

    command_line()


if "multiprocessing.spawn" in sys.modules:  # a worker process, about to import what its work needs
    _import_pyarrow_alone()
