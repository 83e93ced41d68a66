"""Each answer once, whatever order splits bring it in; and the index of keys that tells."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lake_driver import NOW, answer, batch_of, ingest, lake_rows, places, stage, write_log

from pipeline.lake import keys as keys_module
from pipeline.lake.keys import KeyIndex, mix, sorted_run
from pipeline.lake.parts import PartWriter
from pipeline.lake.store import Lake


def test_a_split_without_repetition_is_renamed_and_not_rewritten(tmp_path: Path) -> None:
    with Lake(tmp_path / "lake") as lake:
        staged = stage(lake.staging, "s", {"turns": [_turn("r1"), _turn("r2")]})
        inode = Path(staged.parts["turns"][0]).stat().st_ino
        lake.land(staged, [])
        lake.finish()
    (part,) = (tmp_path / "lake" / "turns").iterdir()
    assert part.stat().st_ino == inode


def _turn(id_: str) -> dict[str, object]:
    place = {"source_file": "a", "source_line": 1, "source_offset": 0}
    return {
        "turn_key": id_,
        "response_id": id_,
        "format": "toy",
        "choice_index": 0,
        "calls": 0,
        "ingested_at": NOW,
        **place,
    }


# Two occurrences of one answer may have been judged by different tools, so that their violations differ.
OCCURRENCES = [((2,), (0,)), ((0,), (2,)), ((1, 2), (2, 1)), ((0, 0), (3, 0)), ((1, 0), (0, 1))]


@pytest.mark.parametrize("split_bytes", [1, 10_000], ids=["in two splits", "in one split"])
@pytest.mark.parametrize(("first", "second"), OCCURRENCES)
def test_of_an_answer_met_twice_the_first_lands_with_its_own_violations(
    tmp_path: Path, first: tuple[int, ...], second: tuple[int, ...], split_bytes: int
) -> None:
    before, after = answer("r0", 1), answer("r2", 2)
    log = write_log(
        tmp_path / "a.jsonl",
        *(before, answer("r1", *first, says="first"), answer("r1", *second, says="second"), after),
        answer("r1", *second, says="third"),
    )
    _, landed = ingest(tmp_path / "lake", [log], split_bytes=split_bytes)
    assert sum(one.duplicates for one in landed) == 2
    assert places(tmp_path / "lake", "duplicates") == [("id:r1", "a.jsonl", 3), ("id:r1", "a.jsonl", 5)]
    rows = lake_rows(tmp_path / "lake")
    expected = [("id:r0-0", 0, "wrong"), ("id:r2-0", 0, "wrong"), ("id:r2-0", 1, "wrong")]
    expected += [(f"id:r1-{call}", n, "first") for call, count in enumerate(first) for n in range(count)]
    assert [(row["call_key"], row["violation_index"], row["message"]) for row in rows["violations"]] == sorted(expected)
    assert [row["call_key"] for row in rows["calls"]] == sorted(
        ["id:r0-0", "id:r2-0", *(f"id:r1-{n}" for n in range(len(first)))]
    )


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=4),
    st.sampled_from([1, 150, 10_000]),
)
def test_overlapping_exports_land_each_answer_once_and_count_the_rest(
    tmp_path_factory: pytest.TempPathFactory, exports: list[list[int]], split_bytes: int
) -> None:
    root = tmp_path_factory.mktemp("overlap")
    logs = [
        write_log(root / f"{position}.jsonl", *(answer(f"r{n}", n % 3, tool=f"t{n}") for n in export), " " * position)
        for position, export in enumerate(exports)
    ]
    for run in (logs[:1], logs):
        ingest(root / "lake", run, split_bytes=split_bytes)
    rows = lake_rows(root / "lake")
    met = [n for export in exports for n in export]
    assert [row["turn_key"] for row in rows["turns"]] == sorted({f"id:r{n}" for n in met})
    assert len(rows["duplicates"]) == len(met) - len(set(met))
    assert [row["call_key"] for row in rows["calls"]] == sorted({f"id:r{n}-0" for n in met})
    assert len(rows["violations"]) == sum(n % 3 for n in set(met))
    assert [row["tool_name"] for row in rows["tools"]] == sorted({f"t{n}" for n in met})


def _part(path: Path, keys: list[str]) -> tuple[str, Path]:
    writer = PartWriter(path, "tools")
    writer.write(batch_of("tools", [{"tool_key": key, "tool_name": "t", "strict": False} for key in keys]))
    writer.close()
    return path.name, path


def _run(keys: list[str]) -> keys_module.Run:
    """What whoever writes a part of these keys hands over, in batches of some rows."""
    return sorted_run([keys_module.mix(pa.array(keys[start : start + 7])) for start in range(0, len(keys), 7)])


@pytest.mark.parametrize("one_pass", [0, 8], ids=["searched", "in one pass"])
def test_the_index_knows_exactly_the_keys_that_its_parts_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_pass: int
) -> None:
    monkeypatch.setattr(keys_module, "_ONE_PASS", one_pass)
    chance = random.Random(3)  # noqa: S311  (keys of a test)
    keys = [f"{chance.getrandbits(128):032x}"[: chance.choice([7, 8, 32])] for _ in range(900)]
    read, handed_over = KeyIndex("tool_key"), KeyIndex("tool_key")
    for start in range(0, 600, 60):
        name, path = _part(tmp_path / f"{start}.parquet", keys[start : start + 60])
        read.read([(name, path)])
        handed_over.add(name, path, _run(keys[start : start + 60]))
    _, asked = _part(tmp_path / "asked.parquet", keys[500:700])
    for index in (read, handed_over):
        assert index.known(_run(keys[500:700]), asked).to_pylist() == sorted(set(keys[500:700]) & set(keys[:600]))
        assert index.known(_run([]), _part(tmp_path / "none.parquet", [])[1]).to_pylist() == []


def test_keys_that_a_part_holds_more_than_once_are_told(tmp_path: Path) -> None:
    keys = ["k1", "k2", "k1", *(f"k{n}" for n in range(9, 99)), "k3", "k2", "k1"]
    _, path = _part(tmp_path / "a.parquet", keys)
    assert sorted(KeyIndex("tool_key").repeated(_run(keys), path).to_pylist()) == ["k1", "k2"]


def test_keys_that_mix_down_to_the_same_number_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_module, "mix", lambda keys: pa.array([0] * len(keys), pa.uint64()))
    index = KeyIndex("tool_key")
    index.read([_part(tmp_path / "a.parquet", ["k1", "k2"]), _part(tmp_path / "b.parquet", ["k3"])])
    asked = ["k3", "k4", "k1", "k4"]
    _, path = _part(tmp_path / "asked.parquet", asked)
    assert index.known(_run(asked), path).to_pylist() == ["k1", "k3"]
    assert index.repeated(_run(asked), path).to_pylist() == ["k4"]


def test_more_parts_than_numbers_share_the_last_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_module, "_PART_MASK", 1)
    index = KeyIndex("tool_key")
    index.read([_part(tmp_path / f"{n}.parquet", [f"k{n}"]) for n in range(4)])
    asked = ["k0", "k1", "k3", "k4"]
    assert index.known(_run(asked), _part(tmp_path / "asked.parquet", asked)[1]).to_pylist() == ["k0", "k1", "k3"]


def test_a_key_mixes_to_the_same_number_whatever_stands_beside_it() -> None:
    alone = [mix(pa.array([key]))[0].as_py() for key in ("", "a", "12345678", "r" * 45)]
    assert mix(pa.array(["", "a", "12345678", "r" * 45])).to_pylist() == alone
    assert len(set(alone)) == 4
    many = mix(pa.array([f"id:r{n}" for n in range(20_000)]))
    assert len(many.unique()) == 20_000
