"""The benchmark logs are what the benchmarks say they are: valid JSON, the same every time, of the promised make-up."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from pipeline.lake import committed_parts
from pipeline.tables import TABLES, arrow_schema
from tests.bench import lake, stock
from tests.bench.generate import KINDS, write_log, write_small_files
from tests.bench.measure import CommandFailedError, Run, Sample, run_once
from tests.bench.other_logs import records
from tests.bench.toolsets import UNPARSEABLE, VIOLATING, arguments, make_toolsets, unparseable_arguments
from tests.bench.toolsets import violating_arguments as broken
from tests.bench.vocabulary import PARAMETERS

SHAPES = ("rich", "lean", "chat-pairs", "batch", "fresh-tools")


def drawing(seed: int) -> Random:
    return Random(seed)  # noqa: S311  made-up data, no secret


def loaded(shape: str, count: int, spaced: bool = False) -> list[Any]:
    return [json.loads(record) for record in islice(records(shape, spaced=spaced), count)]


def judged_plainly(response: dict[str, Any]) -> list[str]:
    """Verdict on each call by the stock packages, as a word."""
    tools = {tool["name"]: tool for tool in response["tools"]}
    words = []
    for item in response["output"]:
        if item["type"] != "function_call":
            continue
        try:
            value = json.loads(item["arguments"], parse_constant=lambda name: [name])
        except ValueError:
            words.append("cut" if item.get("status") == "incomplete" else "unparseable")
            continue
        if not isinstance(value, dict) or "NaN" in item["arguments"]:
            words.append("unparseable")
        elif item["name"] not in tools:
            words.append("unknown")
        else:
            valid = Draft202012Validator(tools[item["name"]]["parameters"]).is_valid(value)
            words.append("fine" if valid else "violating")
    return words


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_makes_the_same_records_each_time_and_others_with_another_seed(shape: str) -> None:
    first = list(islice(records(shape), 20))
    assert list(islice(records(shape), 20)) == first
    assert list(islice(records(shape, seed=7), 20)) != first


@pytest.mark.parametrize("shape", SHAPES)
def test_the_two_spellings_hold_the_same_values(shape: str) -> None:
    assert loaded(shape, 60) == loaded(shape, 60, spaced=True)
    compact, spaced = next(records(shape)), next(records(shape, spaced=True))
    assert json.dumps(json.loads(compact), separators=(",", ":"), ensure_ascii=False) == compact
    assert json.dumps(json.loads(spaced), ensure_ascii=False) == spaced


@pytest.mark.parametrize(
    ("shape", "low_bytes", "high_bytes"), [("rich", 11_000, 13_500), ("lean", 540, 660), ("chat-pairs", 7_000, 9_500)]
)
def test_records_are_about_as_large_as_promised(shape: str, low_bytes: int, high_bytes: int) -> None:
    sizes = [len(record.encode()) for record in islice(records(shape), 400)]
    assert low_bytes < sum(sizes) / len(sizes) < high_bytes


def test_rich_records_show_four_to_fourteen_tools_out_of_forty_toolsets() -> None:
    made = loaded("rich", 1500)
    assert {len(response["tools"]) for response in made} == set(range(4, 15))
    assert len({json.dumps(response["tools"]) for response in made}) == 40


def test_rich_records_hold_1_3_calls_each_and_five_percent_of_all_faults() -> None:
    made = loaded("rich", 3000)
    words = Counter(word for response in made for word in judged_plainly(response))
    calls = words.total()
    assert 1.22 < calls / len(made) < 1.38
    assert 0.04 < 1 - words["fine"] / calls < 0.06
    assert set(words) == {"fine", "violating", "unparseable", "unknown", "cut"}


def test_lean_records_have_one_tool_and_one_call() -> None:
    made = loaded("lean", 2000)
    assert {(len(response["tools"]), len(response["output"])) for response in made} == {(1, 1)}
    words = Counter(word for response in made for word in judged_plainly(response))
    assert set(words) == {"fine", "violating", "unparseable", "unknown"}
    assert 0.03 < 1 - words["fine"] / 2000 < 0.07


def test_arguments_hardly_ever_repeat() -> None:
    texts = [item["arguments"] for r in loaded("rich", 2000) for item in r["output"] if "arguments" in item]
    assert len(set(texts)) / len(texts) > 0.95


def test_no_two_toolsets_of_fresh_tools_are_alike() -> None:
    made = loaded("fresh-tools", 300)
    assert len({json.dumps(response["tools"]) for response in made}) == 300


def test_a_chat_pair_carries_its_tools_in_the_request_and_an_old_call_that_is_not_its_own() -> None:
    for pair in loaded("chat-pairs", 200):
        assert 2 <= len(pair["request"]["tools"]) <= 8
        assert "tools" not in pair["response"]
        replayed = [message for message in pair["request"]["messages"] if message.get("tool_calls")]
        assert [call["id"] for message in replayed for call in message["tool_calls"]] == ["call_0"]
        choice = pair["response"]["choices"][0]
        assert choice["finish_reason"] in {"stop", "length", "tool_calls"}
        assert (choice["message"]["tool_calls"] is None) == (choice["finish_reason"] == "stop")


def test_every_fiftieth_batch_line_expired() -> None:
    made = loaded("batch", 100)
    assert [index for index, line in enumerate(made) if line["response"] is None] == [49, 99]
    assert len({line["custom_id"] for line in made}) == 100


def test_fitting_arguments_fit_and_broken_ones_break() -> None:
    rng = drawing(1)
    for tool in {tool.name: tool for toolset in make_toolsets(1) for tool in toolset}.values():
        Draft202012Validator.check_schema(tool.schema)
        validator = Draft202012Validator(tool.schema)
        for _ in range(4):
            validator.validate(json.loads(arguments(rng, tool)))
            assert [kind for kind in VIOLATING if validator.is_valid(json.loads(broken(rng, tool, kind)))] == []


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_has_values_that_fit_and_one_that_does_not(parameter: Any) -> None:
    validator, rng = Draft202012Validator(parameter.schema), drawing(2)
    assert all(validator.is_valid(json.loads(parameter.fitting(rng))) for _ in range(50))
    assert not validator.is_valid(json.loads(parameter.breaking))


@pytest.mark.parametrize("kind", UNPARSEABLE)
def test_unparseable_arguments_are_no_json_object(kind: str) -> None:
    def refused(name: str) -> None:
        raise ValueError(name)

    for seed in range(20):
        text = unparseable_arguments(drawing(seed), make_toolsets(1)[seed][0], kind)
        try:
            value = json.loads(text, parse_constant=refused)
        except ValueError:
            continue
        assert not isinstance(value, dict)


def read_back(path: Path, kind: str) -> list[Any]:
    if kind.startswith("array"):
        return list(json.loads(path.read_text()))
    data = path.read_bytes()
    if kind == "gzip":
        data = gzip.decompress(data)
    if kind == "zstd":
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "small-files"])
def test_a_log_holds_the_records_of_its_shape_and_is_as_long_as_asked(kind: str, tmp_path: Path) -> None:
    out, again = tmp_path / "log", tmp_path / "again"
    write_log(kind, 200_000, out)
    write_log(kind, 200_000, again)
    assert out.read_bytes() == again.read_bytes()
    made = read_back(out, kind)
    shape = KINDS[kind][1]
    lines = list(islice(records(shape), len(made)))
    assert made == [json.loads(line) for line in lines]
    sizes = [len(line.encode()) + 1 for line in lines]
    assert sum(sizes[:-1]) < 200_000 <= sum(sizes)


def test_small_files_hold_one_record_each_and_the_file_beside_them_holds_all(tmp_path: Path) -> None:
    write_small_files(205, tmp_path / "tree")
    files = sorted((tmp_path / "tree").rglob("*.json"))
    assert [len({file.parent for file in files}), len(files)] == [3, 205]
    assert b"".join(file.read_bytes() for file in files) == (tmp_path / "tree.jsonl").read_bytes()


def test_a_made_lake_has_the_tables_of_the_product_and_adds_up(tmp_path: Path) -> None:
    rows = lake.write_lake(tmp_path / "lake", 13_000)
    parts = committed_parts(tmp_path / "lake")
    tables = {name: pq.read_table(parts[name]) for name in TABLES}
    assert {name: len(table) for name, table in tables.items()} == rows
    assert all(tables[name].schema.equals(arrow_schema(name)) for name in TABLES)
    assert (rows["calls"], rows["turns"]) == (13_000, 10_000)
    calls = tables["calls"].to_pydict()
    assert sum(tables["turns"]["calls"].to_pylist()) == 13_000
    assert len(set(calls["call_key"])) == 13_000
    assert set(calls["turn_key"]) <= set(tables["turns"]["turn_key"].to_pylist())
    assert Counter(tables["violations"]["call_key"].to_pylist()) == {
        key: count for key, count in zip(calls["call_key"], calls["violation_count"], strict=True) if count
    }
    assert len(set(calls["state"])) == 9
    assert set(calls["tool_key"]) - {None} <= set(tables["tools"]["tool_key"].to_pylist())


def test_a_made_lake_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = (list(lake.parts(1300)) for _ in range(2))
    assert first == second


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(CommandFailedError, match=r"ended with 3: no disk"):
        run_once([sys.executable, "-c", "import sys; sys.stderr.write('no disk'); sys.exit(3)"])


def test_the_peak_is_that_of_the_command() -> None:
    run = run_once([sys.executable, "-c", "held = bytearray(200_000_000)"])
    assert 190 < run.peak_mb < 2000
    assert run.seconds > 0


def test_the_ratio_is_the_median_of_neighbours() -> None:
    own = Sample(tuple(Run(seconds, seconds, 10) for seconds in (1.0, 2.0, 9.0)))
    other = Sample(tuple(Run(seconds, seconds, 20) for seconds in (2.0, 4.0, 10.0)))
    assert (own.ratio_to(other), own.seconds, own.cpu_s, other.peak_mb) == (0.5, 2.0, 2.0, 20)


def test_a_log_of_the_stock_is_made_once(tmp_path: Path) -> None:
    shelf = stock.Stock(tmp_path, 0.1, 3)
    path = shelf.log("rich-spaced")
    made = path.stat().st_mtime_ns
    assert b'"object": "response"' in path.read_bytes()
    assert shelf.log("rich-spaced").stat().st_mtime_ns == made
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("script", ["plain_script.py", "duckdb_query.py"])
def test_a_baseline_counts_every_call(script: str, tmp_path: Path) -> None:
    log = tmp_path / "rich.jsonl"
    write_log("rich", 400_000, log)
    made = [json.loads(line) for line in log.read_text().splitlines()]
    calls = sum(len(judged_plainly(response)) for response in made)
    command = [sys.executable, str(Path(stock.__file__).parent / "baselines" / script), str(log)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603  our own script
    assert sum(int(line.split()[-1]) for line in printed.splitlines()) == calls
