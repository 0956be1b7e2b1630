"""A file that a command writes is there whole, or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from flask import Flask

from app.output_file import OutputError, output_file

KILLED = """
import os, sys
from pathlib import Path
from app.output_file import output_file
with output_file(Path(sys.argv[1])) as out:
    out.write(b"half")
    out.flush()
    os._exit(9)
"""


def test_it_appears_when_all_of_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with output_file(file) as out:
        out.write(b"all")
        assert not file.exists()
    assert file.read_bytes() == b"all"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before")
    with pytest.raises(ZeroDivisionError), output_file(file, "utf-8") as out:
        out.write("half")
        raise ZeroDivisionError
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_of_two_at_the_same_time_each_is_whole(tmp_path: Path) -> None:
    """A night's backup may still run when the next one begins."""
    file = tmp_path / "file"
    with output_file(file) as late:
        late.write(b"the first")
        with output_file(file) as early:
            early.write(b"another")
        assert file.read_bytes() == b"another"
    assert file.read_bytes() == b"the first"


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / ".file.mine.part"
    other.touch()
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
        assert killed.returncode == 9
        assert len(list(tmp_path.iterdir())) == 2
    with output_file(file) as out:
        out.write(b"all")
    assert sorted(tmp_path.iterdir()) == [other, file]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, is_there: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "folder" / "link"
    link.parent.mkdir()
    link.symlink_to("../target")
    if is_there:
        target.write_text("before")
    with output_file(link, "utf-8") as out:
        out.write("after")
    assert (link.is_symlink(), target.read_text()) == (True, "after")
    assert list(link.parent.iterdir()) == [link]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with output_file(pipe, "utf-8") as out:
        out.write("all")
    reader.join()
    assert (read, pipe.is_fifo()) == (["all"], True)


@pytest.mark.parametrize("folder", ["/proc", "/proc/version", "/nowhere"])
def test_where_nothing_can_be_written_is_told(folder: str) -> None:
    refusal = pytest.raises(OutputError, match=f"{folder}/file cannot be written: [A-Z]")
    with refusal, output_file(Path(folder, "file")):
        pass


@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_a_full_disk_is_told(encoding: str | None) -> None:
    refusal = pytest.raises(OutputError, match="/dev/full cannot be written: No space left")
    with refusal, output_file(Path("/dev/full"), encoding) as out:
        out.write("all" if encoding else b"all")


def test_an_error_of_what_is_written_is_not_one_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError), output_file(tmp_path / "file"):
        raise ConnectionResetError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [["backup"], ["export", "records"]], ids=" ".join)
def test_commands_tell_it_in_a_line(app: Flask, command: list[str]) -> None:
    outcome = app.test_cli_runner().invoke(args=[*command, "/proc/file"])
    assert (outcome.exit_code, outcome.output.count("\n")) == (1, 1), outcome.output
    assert outcome.output.startswith("Error: /proc/file cannot be written: ")
