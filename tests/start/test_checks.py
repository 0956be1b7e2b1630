"""What stops a start is one line that says what to do."""

from __future__ import annotations

import runpy
import socket
import sqlite3
from contextlib import closing
from contextvars import Context
from pathlib import Path

import pytest

from app.config import ConfigError, web_port
from app.start.__main__ import main
from app.start.checks import (
    check_data_dir,
    check_database_file,
    check_port,
    check_web_processes,
)
from app.start.processes import ROOT
from app.start.release import main as release
from app.start.setting_urls import MOST_PORT


def refusal(caught: pytest.ExceptionInfo[ConfigError]) -> str:
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            check_port("127.0.0.1", port)
    assert f"PORT={port + 1} make run" in refusal(caught)


def test_free_port_is_taken_as_it_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    check_port("127.0.0.1", port)


@pytest.mark.parametrize(
    "text", ["0", "65536", "80a", "-1", "8000.0", "\u00b2", "\u0663", "9" * 5000]
)
def test_port_must_be_one(text: str) -> None:
    with pytest.raises(ConfigError, match="PORT must be a whole number from 1 to 65535"):
        web_port({"PORT": text})
    assert web_port({"PORT": str(MOST_PORT)}) == 65_535


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("PORT", "80a", "PORT must be a whole number from 1 to 65535, not '80a'"),
        ("PORT", "65536", "PORT must be a whole number from 1 to 65535, not '65536'"),
        ("WEB_CONCURRENCY", "two", "WEB_CONCURRENCY must be a whole number from 1 to 2147483647"),
        ("WEB_CONCURRENCY", "0", "WEB_CONCURRENCY must be a whole number from 1 to 2147483647"),
        ("WEB_CONCURRENCY", "2", "WEB_CONCURRENCY is 2: more than one web process needs REDIS_URL"),
    ],
)
def test_the_web_server_tells_a_wrong_setting_in_a_line(
    name: str, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    assert str(caught.value.code).startswith(f"Cannot start: {told}")


def test_data_dir_is_made(tmp_path: Path) -> None:
    check_data_dir(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()


def test_data_dir_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        check_data_dir(tmp_path / "file" / "data")
    assert "cannot be written to (Not a directory)" in refusal(caught)


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "platform.db"
    path.write_text("this is a letter, not a database" * 10)
    with pytest.raises(ConfigError) as caught:
        check_database_file(path)
    assert "file is not a database" in refusal(caught)


def test_database_is_taken_and_a_missing_one_too(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "platform.db")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    check_database_file(tmp_path / "platform.db")
    check_database_file(tmp_path / "none.db")


def test_several_web_processes_need_redis() -> None:
    with pytest.raises(ConfigError, match="more than one web process needs REDIS_URL"):
        check_web_processes(2, None)
    check_web_processes(2, "redis://127.0.0.1")
    check_web_processes(1, None)


def test_start_that_is_stopped_says_why_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("PORT", "54321")
    assert main() == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Cannot start: DATA_DIR ")
    assert err.count("\n") == 1


def test_release_makes_the_folder_of_the_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "new" / "folder"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert release() == 0
    assert (tmp_path / "new" / "folder" / "platform.db").exists()


def test_release_makes_the_first_administrator_once_and_says_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In contexts of their own: a process that releases acts for nobody."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("ADMIN_PASSWORD", raising=False)
    assert Context().run(release) == 0
    assert "There is no user yet" in capsys.readouterr().out
    monkeypatch.setenv("ADMIN_PASSWORD", "correct horse battery staple")
    for _ in range(2):
        assert Context().run(release) == 0
    monkeypatch.delenv("ADMIN_PASSWORD")
    assert Context().run(release) == 0
    assert "There is no user yet" not in capsys.readouterr().out
    with closing(sqlite3.connect(tmp_path / "platform.db")) as database:
        names = database.execute("SELECT username FROM users WHERE kind = 'person'").fetchall()
    assert names == [("admin",)]


@pytest.mark.parametrize("place", ["folder", "server"])
def test_release_that_is_stopped_says_why_in_one_line(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    url = {
        "folder": f"sqlite:///{tmp_path}/file/data/platform.db",
        "server": "postgresql://nobody@127.0.0.1:1/none",
    }[place]
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", url)
    assert release() == 1
    out, err = capsys.readouterr()
    assert err.startswith("Cannot release: the ")
    assert (out, err.count("\n")) == ("", 1)
