"""Row groups written by a thread behind the reading: no more of them than are bounded, and their failures told."""

from __future__ import annotations

import errno
import threading
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_driver import answer, answer_rows, batch_of

from pipeline.errors import PipelineError
from pipeline.lake import behind, parts
from pipeline.lake.behind import Behind
from pipeline.lake.parts import PartWriter
from pipeline.lake.staging import StagedWriter


def _turns(number: int) -> pa.RecordBatch:
    """Rows that are a row group in the tests that say so."""
    rows = [answer_rows(answer(f"r{number}-{n}"), ("a", n + 1, n), "a")["turns"][0] for n in range(10)]
    return batch_of("turns", rows)


def test_row_groups_land_in_their_order_and_keys_are_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 20)
    with StagedWriter(tmp_path, "s") as writer:
        for number in range(7):
            writer.write("turns", _turns(number))
        staged = writer.finish()
    (path, size), (run,) = staged.parts["turns"], staged.runs.values()
    ids = pq.read_table(path)["response_id"].to_pylist()
    assert ids == [f"r{number}-{n}" for number in range(7) for n in range(10)]
    assert pq.ParquetFile(path).metadata.num_row_groups == 4
    assert (size.rows, sum(map(len, run))) == (70, 70)


@pytest.mark.parametrize("failing", [1, 2, 5])
def test_a_disk_that_fills_up_behind_the_reading_is_told_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_ROWS", 10)
    put, begun = PartWriter.put, []

    def full(writer: PartWriter, group: pa.Table) -> None:
        begun.append(threading.current_thread())
        if len(begun) == failing:
            raise OSError(errno.ENOSPC, "full")
        put(writer, group)

    monkeypatch.setattr(PartWriter, "put", full)
    with pytest.raises(PipelineError) as raised, StagedWriter(tmp_path, "s") as writer:
        for number in range(5):
            writer.write("turns", _turns(number))
        writer.finish()
    assert raised.value.code == "disk-full"
    assert list(tmp_path.iterdir()) == []
    assert threading.main_thread() not in begun
    assert not any(thread.is_alive() for thread in begun)


def test_the_reading_waits_while_enough_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind, "_UNDER_WAY", 2)
    thread, gate = Behind(), threading.Event()
    done: list[int] = []

    def work(number: int) -> None:
        gate.wait()
        done.append(number)

    for number in range(2):
        thread.do(partial(work, number))
    third = threading.Thread(target=thread.do, args=(partial(work, 2),))
    third.start()
    third.join(0.05)
    assert (third.is_alive(), done) == (True, [])
    gate.set()
    third.join()
    assert thread.do_last(done.copy).result() == [0, 1, 2]
    thread.end()


def test_what_is_given_up_is_finished_where_it_has_begun_and_else_not_begun() -> None:
    thread, gate, begun = Behind(), threading.Event(), threading.Event()
    done: list[int] = []

    def first() -> None:
        begun.set()
        gate.wait()
        done.append(1)

    thread.do(first)
    thread.do(partial(done.append, 2))
    begun.wait()
    ending = threading.Thread(target=thread.end)
    ending.start()
    ending.join(0.05)
    assert ending.is_alive()
    gate.set()
    ending.join()
    assert done == [1]
