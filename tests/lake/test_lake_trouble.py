"""A lake that is locked, full, foreign, damaged or forbidden: one clear error, and the lake as it was."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lake_driver import answer, ingest, lake_rows, write_log

from pipeline.errors import PipelineError
from pipeline.lake import commit, committed_parts, manifest, parts
from pipeline.lake.lock import LakeLock
from pipeline.lake.store import Lake


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "a.jsonl", answer("r1", 1), answer("r2", 0))


@pytest.fixture
def lake(tmp_path: Path, log: Path) -> Path:
    ingest(tmp_path / "lake", [log])
    return tmp_path / "lake"


def _error(run: Callable[[], object]) -> PipelineError:
    with pytest.raises(PipelineError) as caught:
        run()
    assert caught.value.hint
    assert caught.value.exit_status == 2
    return caught.value


HOLDER = """
import os, signal, sys, time
from pathlib import Path
from pipeline.lake.lock import LakeLock
lock = LakeLock(Path(sys.argv[1]))
worker = os.fork()
if worker == 0:
    time.sleep(60)
print(worker, flush=True)
time.sleep(60)
"""


def test_a_second_run_is_told_who_writes_and_since_when_until_that_one_dies(lake: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:  # noqa: S603  (our own program)
        assert holder.stdout
        worker = int(holder.stdout.readline())
        error = _error(lambda: Lake(lake))
        assert error.code == "lake-locked"
        assert f"pid {holder.pid}, since 20" in error.message
        holder.kill()
        holder.wait()
        # A worker that outlives its run does not keep the lake locked.
        os.kill(worker, 0)
        Lake(lake).close()
        os.kill(worker, 9)


def test_one_process_does_not_open_a_lake_twice_and_may_open_it_again(lake: Path) -> None:
    first = LakeLock(lake)
    assert _error(lambda: Lake(lake)).code == "lake-locked"
    assert _error(lambda: LakeLock(lake)).code == "lake-locked"
    first.release()
    first.release()
    Lake(lake).close()


def _snapshot(lake: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(lake.rglob("*")) if p.is_file() and p.name != "_lock"}


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


PLACES = [
    (parts.PartWriter, "put"),
    (parts.PartWriter, "close"),
    (parts, "sync"),
    (commit, "sync"),
    (commit, "save"),
    (Path, "rename"),
    (Path, "replace"),
    (os, "fsync"),
]


@pytest.mark.parametrize(("owner", "name"), PLACES, ids=[name for _, name in PLACES])
@pytest.mark.parametrize("deed", ["new", "replaced"])
def test_a_full_disk_wherever_it_is_met_leaves_the_lake_as_it_was(
    lake: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, deed: str
) -> None:
    before = _snapshot(lake)
    log = write_log(log if deed == "replaced" else tmp_path / "b.jsonl", answer("r8", 1), answer("r9", 0))
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, _full)
        error = _error(lambda: ingest(lake, [log]))
    assert error.code == "disk-full"
    assert str(lake) in error.message
    assert _snapshot(lake) == before
    ingest(lake, [log])
    assert "id:r9" in {row["turn_key"] for row in lake_rows(lake)["turns"]}


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if not mount or not umount:
        pytest.skip("there is no mount command")
    command = [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(command, check=False, capture_output=True).returncode:  # noqa: S603  (no input from outside)
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run([umount, str(disk)], check=True)  # noqa: S603  (no input from outside)


def test_a_disk_that_really_fills_up_leaves_the_lake_as_it_was(tiny: Path, log: Path, tmp_path: Path) -> None:
    lake = tiny / "lake"
    ingest(lake, [log])
    before, rows = _snapshot(lake), lake_rows(lake)
    noise = [answer(os.urandom(400).hex(), 0) for _ in range(2000)]
    large = write_log(tmp_path / "large.jsonl", *noise)
    assert _error(lambda: ingest(lake, [large], split_bytes=300_000)).code == "disk-full"
    seen = {row["turn_key"] for row in lake_rows(lake)["turns"]}
    assert {row["turn_key"] for row in rows["turns"]} <= seen
    assert before.keys() - _snapshot(lake).keys() == set()
    assert ingest(lake, [log])[0] == {str(log): "unchanged"}


def test_a_disk_too_full_for_a_new_lake_is_said(tiny: Path, log: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        (tiny / "filler").write_bytes(bytes(4_000_000))
    assert _error(lambda: ingest(tiny / "lake", [log])).code == "disk-full"
    (tiny / "filler").unlink()
    ingest(tiny / "lake", [log])


@pytest.mark.parametrize("name", ["nothing", "a.jsonl", "empty"])
def test_a_reader_is_told_that_something_is_no_lake(tmp_path: Path, log: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    assert _error(lambda: committed_parts(tmp_path / name)).code == "not-a-lake"


MANIFESTS = [
    (b"", "lake-unreadable"),
    (b"{", "lake-unreadable"),
    (b"[]", "lake-unreadable"),
    (b"\xff", "lake-unreadable"),
    (b'{"version": 1}', "lake-unreadable"),
    (b'{"version": 2, "whatever": []}', "lake-too-new"),
]


@pytest.mark.parametrize(("document", "code"), MANIFESTS)
def test_a_manifest_that_cannot_be_read_stops_readers_and_writers(lake: Path, document: bytes, code: str) -> None:
    (lake / manifest.MANIFEST_NAME).write_bytes(document)
    before = _snapshot(lake)
    assert _error(lambda: committed_parts(lake)).code == code
    assert _error(lambda: Lake(lake)).code == code
    assert _snapshot(lake) == before


def test_parts_without_a_manifest_are_nobodys_to_take(lake: Path) -> None:
    (lake / manifest.MANIFEST_NAME).unlink()
    before = _snapshot(lake)
    assert _error(lambda: Lake(lake)).code == "not-a-lake"
    assert _snapshot(lake) == before


def test_a_file_is_no_place_for_a_lake(log: Path) -> None:
    assert _error(lambda: Lake(log)).code == "not-a-lake"
    assert _error(lambda: Lake(log / "lake")).code == "lake-io"


def test_a_part_that_is_missing_or_broken_is_told_and_full_mends_it(lake: Path, log: Path, tmp_path: Path) -> None:
    rows = lake_rows(lake)
    (part,) = (lake / "turns").iterdir()
    part.write_bytes(b"PAR1 no more")
    again = write_log(tmp_path / "b.jsonl", answer("r1", 1))
    assert _error(lambda: ingest(lake, [again])).code == "lake-damaged"
    part.unlink()
    assert _error(lambda: Lake(lake)).code == "lake-damaged"
    ingest(lake, [log], full=True)
    assert lake_rows(lake) == rows


def test_without_permission_to_write_the_lake_is_left_alone(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", forbidden)
        error = _error(lambda: Lake(lake))
    assert (error.code, str(lake) in error.message) == ("lake-not-writable", True)
    Lake(lake).close()


def test_what_others_keep_in_the_lake_is_never_touched(lake: Path, log: Path) -> None:
    lake_id = manifest.load(lake).lake_id  # type: ignore[union-attr]
    theirs = [
        lake / "README",
        lake / "_manifest.json.bak",
        lake / "calls" / "mine.parquet",
        lake / "calls" / "part-00000000-00000009-000001.parquet",
        lake / "calls" / f"part-{lake_id}-00000009-000001.parquet.bak",
        lake / commit.STAGING / "run-mine" / "x",
        lake / "other" / f"part-{lake_id}-00000009-000001.parquet",
    ]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_text("theirs")
    ours = [
        lake / "calls" / f"part-{lake_id}-00000009-000001.parquet",
        lake / "_manifest.json.next",
        lake / commit.STAGING / "run-0a1b2c3d" / "x",
    ]
    for path in ours:
        path.parent.mkdir(exist_ok=True)
        path.write_text("left by a killed run")
    ingest(lake, [log], full=True)
    assert [path.read_text() for path in theirs] == ["theirs"] * len(theirs)
    assert [path for path in ours if path.exists()] == []


def test_a_run_left_by_an_error_keeps_what_it_had_committed_and_nothing_else(lake: Path) -> None:
    before = _snapshot(lake)
    with pytest.raises(KeyError), Lake(lake) as opened:
        opened._txn.forget_everything()
        raise KeyError
    assert _snapshot(lake) == before


def test_a_file_that_cannot_be_read_is_named(lake: Path, tmp_path: Path) -> None:
    with Lake(lake) as opened:
        error = _error(lambda: opened.plan([str(tmp_path / "none.jsonl")]))
    assert (error.code, "none.jsonl" in error.message) == ("file-unreadable", True)
