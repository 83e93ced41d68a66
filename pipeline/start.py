"""Where the process begins: the command ``dispatchable``, and ``python -m pipeline``. Nothing else imports this file.

pyarrow imports numpy and pandas where they are installed, to convert to and from them. No command here asks for that,
and importing the two takes longer than all the rest together; so pyarrow is imported without them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_UNUSED = ("numpy", "pandas")
_ARROW_COMMANDS = frozenset({"check", "ingest", "report", "sql"})
_READING_COMMANDS = frozenset({"check", "ingest"})


def _import_pyarrow_alone() -> None:
    """Import pyarrow as it is where neither library is installed, and leave both importable for others."""
    absent = [name for name in _UNUSED if name not in sys.modules]
    for name in absent:
        sys.modules[name] = cast("ModuleType", None)  # what the import system takes for "not there"
    try:
        import pyarrow as pa
        import pyarrow.compute  # which would look for numpy by itself

        pa.array(["now it looks for pandas, and remembers"])
    finally:
        for name in absent:
            del sys.modules[name]


def main() -> None:
    """Run the command line."""
    if not _ARROW_COMMANDS.isdisjoint(sys.argv):
        _import_pyarrow_alone()
    if not _READING_COMMANDS.isdisjoint(sys.argv):
        from pipeline.workers import leave_garbage

        leave_garbage()
    from pipeline.cli import main as command_line

    command_line()


if "multiprocessing.spawn" in sys.modules:  # a worker process, about to import what its work needs
    _import_pyarrow_alone()
