"""Logs: one line an event, no secrets, no forged lines."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import suppress

import pytest
import structlog
from sqlalchemy.exc import OperationalError

from app import logs
from app.config import Config

JSON = Config(SECRET_KEY="x" * 32, LOG_FORMAT="json")
CONSOLE = Config(SECRET_KEY="x" * 32, LOG_FORMAT="console")


@pytest.fixture
def lines() -> list[bytes]:
    return []


@pytest.fixture
def as_json() -> Iterator[None]:
    logs.configure(JSON)
    yield
    logs.configure(CONSOLE)


def test_a_request_is_one_line_of_json(lines: list[bytes]) -> None:
    logs.RequestLog(JSON, lines.append).write("abc", "user:7", "GET", "/odata/Clients", 200, 1.239)
    event = json.loads(lines[0])
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "level": "info", "event": "request", "request_id": "abc", "principal": "user:7",
        "method": "GET", "route": "/odata/Clients", "status": 200, "ms": 1.24,
    }  # fmt: skip
    assert lines[0].count(b"\n") == 1 and lines[0].endswith(b"\n")


@pytest.mark.requirement("SEC-137")
@pytest.mark.parametrize("config", [JSON, CONSOLE], ids=["json", "console"])
@pytest.mark.parametrize(
    "route",
    [
        '/x\n{"event":"forged"}', "/x\r\nforged", "/x\x1b[2J", "/x\u2028y",
        "/\xc3\xbc\xe2\x80\xa8", "/\xff\xfe",
    ],
)  # fmt: skip
def test_nobody_writes_lines_of_our_log(config: Config, route: str, lines: list[bytes]) -> None:
    logs.RequestLog(config, lines.append).write("id", None, "GET\n", route, 404, 1)
    (line,) = lines
    text = line.decode()
    assert text.endswith("\n")
    assert text[:-1].isprintable()


@pytest.mark.requirement("OPS-06")
def test_a_log_that_cannot_be_written_harms_no_request() -> None:
    def full(line: bytes) -> None:
        raise OSError(28, "No space left on device")

    logs.RequestLog(JSON, full).write("id", None, "GET", "/", 200, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password", "hunter2"),
        ("new_password", "hunter2"),
        ("authorization", "Bearer hunter2"),
        ("refresh_token", "hunter2"),
        ("secret", "hunter2"),
        ("api_key", "hunter2"),
        ("reason", f"key {'bpk_live_hunter2_' + 'A' * 20} refused"),
        ("reason", "eyJhbGciOiJIUzI1NiJ9.hunter2.c2ln"),
        ("reason", "bpr_hunter2" + "A" * 30),
        ("reason", "cannot connect to postgresql://user:hunter2@host/db"),
        ("reason", "whsec_hunter2"),
    ],
)
def test_secrets_are_taken_out(
    as_json: None, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    structlog.get_logger().error("failed", **{name: value})
    line = capsys.readouterr().err
    assert "hunter2" not in line
    assert "***" in json.loads(line)[name]


def test_what_is_no_secret_stays(as_json: None, capsys: pytest.CaptureFixture[str]) -> None:
    structlog.get_logger().error("failed", url="https://host/path", tokenless=1, api_key_id=7)
    event = json.loads(capsys.readouterr().err)
    assert (event["url"], event["api_key_id"]) == ("https://host/path", 7)


def test_libraries_log_the_same_way(as_json: None, capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("some.library").warning("lost %s\nforged", "postgresql://u:hunter2@h/d")
    event = json.loads(capsys.readouterr().err)
    assert event["level"] == "warning"
    assert event["event"] == "lost postgresql://***@h/d\\x0aforged"


def test_an_exception_is_logged_with_its_traceback(
    as_json: None, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError("eyJhbGciOiJIUzI1NiJ9.hunter2.c2ln")
    except ValueError:
        structlog.get_logger().exception("failed")
    event = json.loads(capsys.readouterr().err)
    assert "test_logs.py" in event["exception"]
    assert "hunter2" not in event["exception"]


def test_why_the_database_cannot_be_used_is_one_line(
    as_json: None, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = OperationalError("SELECT 1", None, ConnectionError("server is gone\nmore"))
    mistake = OperationalError("SELECT 1", None, sqlite3.OperationalError("no such column: x"))
    for error in (lost, mistake):
        for tell in (structlog.get_logger().exception, logging.getLogger("library").exception):
            try:
                raise error
            except OperationalError:
                tell("loop failed")
    brief, *traces = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [brief["reason"], traces[0]["reason"]] == ["server is gone"] * 2
    assert not {"exception", "exc_info"} & {*brief, *traces[0]}
    assert all("no such column" in each["exception"] for each in traces[1:])


@pytest.mark.requirement("OPS-06")
@pytest.mark.parametrize("config", [JSON, CONSOLE], ids=["json", "console"])
def test_a_loop_of_the_worker_outlives_a_full_log(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.configure(config)
    try:
        with open("/dev/full", "w") as full:
            monkeypatch.setattr("sys.stderr", full)
            try:
                raise ValueError("what the loop fails with")
            except ValueError:
                structlog.get_logger().exception("loop failed", loop="deliveries")
            logging.getLogger("library").warning("the same by the library's own way")
            monkeypatch.undo()
            with suppress(OSError):
                full.close()
    finally:
        logs.configure(CONSOLE)
