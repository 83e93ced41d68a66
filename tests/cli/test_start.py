"""How the process begins: with what a command needs, and nothing that takes time and is for others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_calls import TOOLS, call, response, write

#: Conversions, queries, worker processes, archives, documentation: each takes longer than reading a small log.
NOT_FOR_ONE_SMALL_FILE = {
    *("numpy", "pandas", "duckdb", "openai", "asyncio", "pydoc"),
    *("multiprocessing", "concurrent.futures", "tempfile", "shutil"),
}


def started(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Our own interpreter, with arguments."""
    return subprocess.run(  # noqa: S603 -- our own interpreter
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_a_check_of_a_small_file_imports_only_what_it_needs(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", response(1, call('{"port":"x"}'), tools=TOOLS))
    program = (
        "import sys; sys.argv[0] = 'dispatchable'; from pipeline.start import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    imported = set(started("-c", program, "check", log, cwd=tmp_path).stderr.split())
    assert {"pyarrow", "pyarrow.compute"} <= imported
    assert imported & NOT_FOR_ONE_SMALL_FILE == set()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="nothing here says how many threads a process has")
def test_arrow_leaves_a_process_alone_so_that_it_can_fork_its_workers(tmp_path: Path) -> None:
    program = (
        "import os; from pipeline import start; start._import_pyarrow_alone();"
        " from pipeline.workers.processes import _context;"
        " print(len(os.listdir('/proc/self/task')), _context().get_start_method())"
    )
    assert started("-c", program, cwd=tmp_path).stdout.split() == ["1", "fork"]


def test_arrow_computes_as_ever_and_other_libraries_can_be_imported(tmp_path: Path) -> None:
    program = (
        "from pipeline import start; start._import_pyarrow_alone();"
        " import pyarrow as pa, pyarrow.compute as pc;"
        " print(pc.is_in(pa.array(['a', 'b']), value_set=pa.array(['b'])).to_pylist());"
        " import numpy, pandas, pyarrow.vendored.docscrape as d; print(numpy.__name__, d.__file__ is not None)"
    )
    done = started("-c", program, cwd=tmp_path)
    assert done.stdout.splitlines() == ["[False, True]", "numpy True"], done.stderr
