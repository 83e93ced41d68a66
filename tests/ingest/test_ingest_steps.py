"""Any number of runs while logs grow, are replaced, renamed and copied, against one run over what they come to."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_driver import BROKEN, FINE, WRONG, Row, answer, fresh_rows, land, lines, rows_of

#: What a log may be made of. ``@`` is replaced by a number of its own.
PIECES = [
    lines(answer("resp_@", FINE)),
    lines(answer("resp_@", WRONG, FINE)),
    lines(answer("resp_@", BROKEN)),
    lines(answer("resp_again", WRONG)),
    lines(answer(None, WRONG)),
    lines(answer("resp_@", FINE)).rstrip(),  # the next record is glued to it
    lines(answer("resp_@", FINE)).rstrip() + "\r\n",
    json.dumps(answer("resp_@", FINE), indent=2) + "\n",
    '{"id": "half\n',
    '{"id": nonsense}\n',
    '{"event": {"n": 1}}\n',
    "2026-05-01 12:00:00 a line of text\n",
    "41\n",
    "\n",
    "  \n",
]


@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=8),
    cuts=st.lists(st.integers(0, 4000), max_size=4),
    ended=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_a_log_read_at_any_moments_of_its_growth_gives_the_rows_of_one_reading(
    memory: str | None, pieces: list[str], cuts: list[int], ended: bool
) -> None:
    text = "".join(piece.replace("@", str(number)) for number, piece in enumerate(pieces))
    data = (text if ended else text.rstrip()).encode()
    with TemporaryDirectory(dir=memory) as directory:
        lake, log = Path(directory, "lake"), Path(directory, "log.jsonl")
        for cut in sorted({min(cut, len(data)) for cut in cuts} | {len(data)}):
            log.write_bytes(data[:cut])
            land(lake, log)
        assert rows_of(lake) == fresh_rows(Path(directory, "whole"), log)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_to_names_every_answer_is_there_once(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 -- names and moments, no secrets
    lake, logs = tmp_path / "lake", _Logs(tmp_path / "logs", chance)
    for _ in range(12):
        logs.change()
        land(lake, *logs.files())
    expected = fresh_rows(tmp_path / "whole", *logs.files())
    assert _without_places(rows_of(lake)) == _without_places(expected)
    assert {"turns", "calls", "rejects"} & land(lake, *logs.files()).rows.keys() == set()


class _Logs:
    """Some logs to which things happen. Every answer has an id, so that it is the same wherever it stands."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._made = 0
        folder.mkdir()

    def files(self) -> list[Path]:
        return sorted(self._folder.iterdir())

    def change(self) -> None:
        logs = self.files()
        deed = self._chance.choice(["append", "append", "replace", "rename", "copy", "swap"]) if logs else "create"
        log = self._chance.choice(logs) if logs else self._new_name()
        if deed == "append":
            with log.open("a") as file:
                file.write(self._text())
        elif deed == "replace" and len(logs) > 1:
            log.write_text(self._text())
        elif deed == "rename":
            log.rename(self._new_name())
        elif deed == "copy":
            shutil.copy(log, self._new_name())
        elif deed == "swap":
            aside, other = self._new_name(), self._chance.choice(logs)
            other.rename(aside)
            if log != other:
                log.rename(other)
            aside.rename(log)
        else:
            self._new_name().write_text(self._text())

    def _new_name(self) -> Path:
        taken = {log.name for log in self.files()}
        free = [name for name in (f"{number:02d}.jsonl" for number in range(40)) if name not in taken]
        return self._folder / self._chance.choice(free)  # used before, perhaps

    def _text(self) -> str:
        records: list[Row] = []
        for _ in range(self._chance.randint(1, 4)):
            known = self._chance.random() < 0.3 and self._made
            number = self._chance.randrange(self._made) if known else self._made
            self._made += not known
            records.append(answer(f"r{number}", *[WRONG, FINE][: 1 + number % 2]))
        return lines(*records)


def _without_places(rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Answers, calls and violations; whose of several equal ones it is depends on who came first."""
    kept = {}
    for table in ("turns", "calls", "violations"):
        some = [{name: value for name, value in row.items() if not name.startswith("source_")} for row in rows[table]]
        kept[table] = sorted(some, key=repr)
    return kept
