"""Bars of progress are for those who watch."""

from __future__ import annotations

import io

import pytest

from app.importing.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("output", [Terminal(), io.StringIO()], ids=["a terminal", "a log"])
def test_bars_are_drawn_on_a_terminal_only(
    output: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", output)
    with progress_bar() as report:
        for done in range(3):
            report("Rows", done, 2)
        report("Files", 0, 0)
    assert ("Rows" in output.getvalue() and "2/2" in output.getvalue()) is output.isatty()
    assert bool(output.getvalue()) is output.isatty()
