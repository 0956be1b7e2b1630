"""``flask import csv``: with a dry run first, all or nothing or row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.importing import rows
from app.models.client import Client
from app.models.event import AuditRecord, Event


def run(app: Flask, path: Path, *options: str) -> tuple[int, str]:
    result = app.test_cli_runner().invoke(args=["import", "csv", str(path), *options])
    return result.exit_code, result.output


def count(session: Session) -> int:
    session.rollback()
    return session.scalar(select(func.count()).select_from(Client)) or 0


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of three pieces."""
    monkeypatch.setattr(rows, "CHUNK", 20)
    path = tmp_path / "clients.csv"
    lines = [f"Client {number},a{number}@b.example" for number in range(45)]
    lines[30] = "Client 30,nobody"
    path.write_text("Partner,email\n" + "\n".join(lines) + "\n")
    return path


def test_all_or_nothing(app: Flask, session: Session, bad: Path) -> None:
    options = ("--type", "client", "--map", "Partner=name")
    code, output = run(app, bad, *options)
    assert code == 1
    assert "row 32, email: must be" in output
    assert count(session) == 0
    bad.write_text(bad.read_text().replace("nobody", "some@body.example"))
    code, output = run(app, bad, *options, "--dry-run")
    assert (code, count(session)) == (0, 0)
    assert "Would have created 45" in output
    code, output = run(app, bad, *options)
    assert (code, count(session)) == (0, 45)
    assert "45 rows. Have created 45, updated 0, left out 0." in output
    assert session.scalar(
        select(func.count()).select_from(Event).where(Event.type == "client.created")
    ) == 45  # fmt: skip
    assert session.scalars(
        select(AuditRecord.action).where(AuditRecord.action == "import.completed")
    ).all() == ["import.completed"]


def test_bad_rows_are_left_out_on_request(app: Flask, session: Session, bad: Path) -> None:
    code, output = run(app, bad, "--type", "client", "--map", "Partner=name", "--skip-bad")
    assert (code, count(session)) == (0, 44)
    assert "left out 1." in output


def test_what_is_wrong_is_one_line(app: Flask, session: Session, bad: Path) -> None:
    assert "Partner: is no property" in run(app, bad, "--type", "client")[1]
    assert "has no = in it" in run(app, bad, "--type", "client", "--map", "Partner")[1]
    assert run(app, bad, "--type", "invoice")[0] == 2
    code, output = run(app, bad, "--type", "client", "--map", "Partner=name", "--dry-run")
    assert (code, count(session)) == (1, 0)
    assert "row 32, email" in output


def test_what_could_be_two_is_asked_for_and_said_by_an_option(
    app: Flask, session: Session, tmp_path: Path
) -> None:
    path = tmp_path / "clients.csv"
    path.write_text("name;revenue\nAcme;12.500\n", encoding="utf-8")
    code, output = run(app, path, "--type", "client")
    assert (code, count(session)) == (1, 0)
    assert "row 2, revenue: could be two numbers: write 12500 or 12.50" in output
    code, output = run(app, path, "--type", "client", "--decimal-sign", "comma")
    assert (code, count(session)) == (0, 1)
    assert "revenue: 12.500 is read as 12500" in output
    assert session.scalars(select(Client.revenue)).one() == 12500
