"""Which reports there are: one ``.sql`` file each, whose first comment lines say what it answers and what it takes.

    -- title: Violation rate by tool
    -- answers: Which tools are called with arguments that cannot be used?
    -- param: since, until
    -- param: top integer = 20: how many rows at most

A parameter stands in the SELECT as ``$name``. One of the common ones is declared by its name alone. Other comment
lines of the head are for whoever reads the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import PipelineError
from pipeline.reports.parameters import COMMON, TYPES, Parameter, Value

PACKAGE_DIR = Path(__file__).resolve().parents[1]
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HEAD_LINE = re.compile(r"--\s*(title|answers|param):\s*(.*?)\s*")
DECLARATION = re.compile(r"([a-z][a-z0-9_]*)\s+([a-z]+)\s*=\s*(.*?)\s*:\s+(.+)")


@dataclass(frozen=True, slots=True)
class Report:
    """One canned query. ``sql`` is the whole file, comments too; ``parameters`` stand in the order of declaration."""

    name: str
    title: str
    answers: str
    parameters: tuple[Parameter, ...]
    sql: str
    path: Path

    def values(self, given: Mapping[str, str]) -> dict[str, Value]:
        """Value of each parameter: what ``given`` says as text (names in snake_case), else its default.

        Raises: PipelineError ``parameter-unknown`` for a name that the report does not declare, and
        ``parameter-invalid`` for text that is not of the parameter's type.
        """
        declared = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in declared:
                options = ", ".join(parameter.option for parameter in self.parameters) or "no options"
                raise PipelineError(
                    "parameter-unknown",
                    f"report {self.name} does not take {name.replace('_', '-')}",
                    f"it takes: {options}",
                )
        return {
            name: parameter.read(given[name]) if name in given else parameter.default
            for name, parameter in declared.items()
        }


def bundled_reports_dir(package_dir: Path = PACKAGE_DIR) -> Path:
    """Directory of the reports that ship with the package: inside it in a wheel, beside it in a checkout.

    Raises: PipelineError ``reports-missing`` where neither is there.
    """
    for directory in (package_dir / "_sql", package_dir.parent / "sql"):
        if directory.is_dir():
            return directory
    raise PipelineError(
        "reports-missing", f"the canned reports are not installed beside {package_dir}", "install dispatchable again"
    )


def read_reports(extra_dirs: Sequence[Path] = ()) -> dict[str, Report]:
    """All reports by name, sorted: those of the package, then those of the user's own directories.

    Raises: PipelineError ``report-invalid`` for a head that cannot be read and for two reports of one name,
    ``reports-missing`` for a directory that is not there.
    """
    reports: dict[str, Report] = {}
    for directory in (bundled_reports_dir(), *extra_dirs):
        if not directory.is_dir():
            raise PipelineError("reports-missing", f"{directory} is not a directory", "give a directory of .sql files")
        for path in sorted(directory.glob("*.sql")):
            report = read_report(path)
            if report.name in reports:
                raise PipelineError(
                    "report-invalid",
                    f"{path}: there is already a report {report.name}, in {reports[report.name].path}",
                    "rename the file: one report never hides another",
                )
            reports[report.name] = report
    return dict(sorted(reports.items()))


def find_report(reports: Mapping[str, Report], name: str) -> Report:
    """Report of that name.

    Raises: PipelineError ``report-unknown``, with the nearest name as its hint.
    """
    if name in reports:
        return reports[name]
    near = difflib.get_close_matches(name, reports, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}? " if near else ""
    raise PipelineError("report-unknown", f"there is no report {name!r}", f"{hint}`dispatchable report` lists them")


def read_report(path: Path) -> Report:
    """Report in one file. Whether its SELECT fits what it declares is for ``engine.check_report`` to say.

    Raises: PipelineError ``report-invalid``.
    """
    if not NAME.fullmatch(path.stem):
        raise _invalid(path, f"{path.stem!r} is not a report's name", "name the file in kebab-case: my-report.sql")
    try:
        sql = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(path, f"it cannot be read ({error})", "a report is a text file in UTF-8") from None
    fields, parameters = _head(path, sql)
    for key in ("title", "answers"):
        if not fields.get(key):
            raise _invalid(path, f"its head has no {key}", f"begin the file with `-- {key}: ...`")
    names = [parameter.name for parameter in parameters]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise _invalid(path, f"parameter {repeated[0]} is declared twice", "declare each once")
    return Report(path.stem, fields["title"], fields["answers"], tuple(parameters), sql, path)


def _head(path: Path, sql: str) -> tuple[dict[str, str], list[Parameter]]:
    """What the comment lines at the top of a file say: title and answers, and the parameters in their order."""
    fields: dict[str, str] = {}
    parameters: list[Parameter] = []
    for number, line in enumerate(sql.split("\n"), start=1):
        if not line.startswith("--"):
            break
        if match := HEAD_LINE.fullmatch(line):
            key, text = match.groups()
            if key == "param":
                parameters += _declared(path, number, text)
            elif key in fields:
                raise _invalid(path, f"line {number}: a second {key}", "give one")
            else:
                fields[key] = text
    return fields, parameters


def _declared(path: Path, line: int, text: str) -> list[Parameter]:
    """Parameters that one ``param:`` line declares."""
    names = [name.strip() for name in text.split(",")]
    if all(name in COMMON for name in names):
        return [COMMON[name] for name in names]
    match = DECLARATION.fullmatch(text)
    if not match or match[2] not in TYPES:
        raise _invalid(
            path,
            f"line {line}: {text!r} declares no parameter",
            f"write `-- param: name type = default: help` with type {', '.join(TYPES)}; or names of common ones:"
            f" {', '.join(COMMON)}",
        )
    parameter = Parameter(match[1], match[2], None, match[4])
    if match[3] == "null":
        return [parameter]
    return [Parameter(match[1], match[2], parameter.read(match[3]), match[4])]


def _invalid(path: Path, what: str, hint: str) -> PipelineError:
    return PipelineError("report-invalid", f"{path}: {what}", hint)
