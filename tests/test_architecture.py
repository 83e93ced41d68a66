"""The house: what may import what, and who owns which outside library. This description is the one that counts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pipeline"

#: From the ground up. A room imports only from floors above it in this list (that is, lower in the house).
FLOORS: tuple[frozenset[str], ...] = tuple(
    frozenset(floor.split())
    for floor in (
        "errors verdicts records printable exactjson",
        "workers",
        "tables toolset rows",
        "batches turnkeys",
        "jsontext toolschema",
        "classify",
        "sources decoding splicing",
        "definitions",
        "interning supplied",
        "formats",
        "lake reports",
        "intake fetch",
        "run",
        "landing findings",
        "checking ingest",
        "cli",
        "start",
    )
)
OWNERS = {
    "click": {"cli"},
    "rich": {"cli"},
    "duckdb": {"reports"},
    "pyarrow.parquet": {"lake"},
    "jsonschema_rs": {"toolschema"},
    "openai": {"fetch"},
}
#: Files of formats/ that know one log format each. They share what lies below them and never each other.
FORMATS = frozenset({"bare", "batch_output", "chat", "pair", "responses"})

FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def floor_of(room: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if room in floor)


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(module_of(file)) for file in FILES} - {"__init__", "__main__"}
    assert rooms == set().union(*FLOORS)


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_imports_go_down_never_up(file: Path) -> None:
    room = room_of(module_of(file))
    if room in {"__init__", "__main__"}:
        return
    used = {room_of(name) for name in imports(file) if name.startswith("pipeline.")} - {room, "__version__"}
    assert {other for other in used if floor_of(other) >= floor_of(room)} == set()


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_an_outside_library_has_one_owner(file: Path) -> None:
    room = room_of(module_of(file))
    names = imports(file)
    strangers = {
        library
        for library, owners in OWNERS.items()
        if room not in owners and any(name == library or name.startswith(library + ".") for name in names)
    }
    assert strangers == set()


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_knows_neither_another_format_nor_the_registry(name: str) -> None:
    used = imports(PACKAGE / "formats" / f"{name}.py")
    assert "pipeline.formats" not in used
    assert {other for other in FORMATS if f"pipeline.formats.{other}" in used} == set()


def test_only_the_command_line_prints_or_exits() -> None:
    callers = {
        module_of(file)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "sys.exit", "exit"}
    }
    assert {module for module in callers if not module.startswith("pipeline.cli")} == set()
