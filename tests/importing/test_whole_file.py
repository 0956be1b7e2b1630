"""A file that a command writes is there whole, or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import click
import pytest
from flask import Flask

from app.importing.whole_file import whole_file


def test_it_appears_when_all_of_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with whole_file(file) as out:
        out.write(b"all")
        assert not file.exists()
    assert file.read_bytes() == b"all"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(file, "utf-8") as out:
        out.write("half")
        raise ZeroDivisionError
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_of_two_at_the_same_time_each_is_whole(tmp_path: Path) -> None:
    """A night's backup may still run when the next one begins."""
    file = tmp_path / "file"
    with whole_file(file) as late:
        late.write(b"the first")
        with whole_file(file) as early:
            early.write(b"another")
        assert file.read_bytes() == b"another"
    assert file.read_bytes() == b"the first"


@pytest.mark.parametrize("place", ["/proc", "/proc/version", "/nowhere"])
def test_where_nothing_can_be_written_is_told(place: str) -> None:
    told = pytest.raises(click.ClickException, match=f"{place}/file cannot be written: [A-Z]")
    with told, whole_file(Path(place, "file")):
        pass


@pytest.mark.parametrize("command", [["backup"], ["export", "records"]], ids=" ".join)
def test_commands_tell_it_in_a_line(app: Flask, command: list[str]) -> None:
    made = app.test_cli_runner().invoke(args=[*command, "/proc/file"])
    assert (made.exit_code, made.output.count("\n")) == (1, 1), made.output
    assert made.output.startswith("Error: /proc/file cannot be written: ")
