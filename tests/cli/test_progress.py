"""The progress line: on a terminal only, over one line, taken away at the end."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from pipeline.cli import terminal
from pipeline.cli.terminal import progress


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    # Not sys.stderr itself: pytest puts another there between the phases of a test.
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=screen))
    monkeypatch.setattr(terminal, "PROGRESS_AFTER_S", 0)
    return screen


def test_a_pipe_and_the_quiet_get_no_progress(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    with progress(100, quiet=True) as shown:
        assert shown is None
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=io.StringIO()))
    with progress(100, quiet=False) as shown:
        assert shown is None
    assert screen.getvalue() == ""


def test_quick_work_shows_nothing(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PROGRESS_AFTER_S", 1000)
    with progress(100, quiet=False) as shown:
        assert shown is not None
        shown.advance(50)
    assert screen.getvalue() == ""


@pytest.mark.parametrize(("total", "share"), [(100_000_000, " 50%"), (10, "100%"), (None, None)])
def test_long_work_shows_how_far_it_is_and_cleans_up(screen: Screen, total: int | None, share: str | None) -> None:
    with progress(total, quiet=False) as shown:
        assert shown is not None
        shown._shown_at -= 1
        shown.advance(50_000_000)
    written = screen.getvalue()
    assert "50 MB" in written
    assert (share is None) or (share in written)
    assert "\n" not in written
    assert written.endswith("\r\x1b[2K")
