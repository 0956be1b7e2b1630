"""What keeps a command from working is one line for the operator, not a trace for a developer."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.cli import FlaskGroup

from app.config import Config
from app.factory import create_app
from tests.databases import close_engines

AWAY = {
    "postgresql, no server": "postgresql+psycopg://postgres@127.0.0.1:9/none",
    "sqlite, a folder in the place of the file": "sqlite:///{folder}",
}
COMMANDS = (
    "backup {file}", "db upgrade", "db current", "user disable anna", "user create anna --email"
    " anna@example.com --role Sales --password three-blue-kettles", "user unlock anna",
    "api-key create ERP --role Viewer", "api-key revoke bpk_live_12345678", "demo load", "reindex",
    "invoices verify", "export records {file}", "documents clean",
)  # fmt: skip


@pytest.fixture(params=AWAY, scope="module")
def lonely(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An application whose database is away."""
    folder = tmp_path_factory.mktemp("lonely")
    return application(AWAY[request.param].format(folder=folder), folder)


def application(uri: str, folder: Path) -> Flask:
    return create_app(Config(
        SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=folder, TESTING=True,
        SQLALCHEMY_DATABASE_URI=uri,
    ))  # fmt: skip


def run(app: Flask, command: str, folder: Path) -> tuple[int, str]:
    words = command.format(file=folder / "file").split()
    result = app.test_cli_runner().invoke(args=words)
    return result.exit_code, result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_database_that_is_away_is_one_line(lonely: Flask, tmp_path: Path, command: str) -> None:
    status, output = run(lonely, command, tmp_path)
    close_engines(lonely)
    assert status == 1, output
    assert output.splitlines()[-1].startswith("Error: The database cannot be used: "), output
    assert "Traceback" not in output


def test_a_database_without_tables_is_told_what_to_do(tmp_path: Path) -> None:
    app = application(f"sqlite:///{tmp_path / 'empty.db'}", tmp_path)
    status, output = run(app, "user disable anna", tmp_path)
    close_engines(app)
    assert status == 1
    assert output.startswith("Error: The database cannot be used: it is not migrated"), output


def test_a_wrong_setting_is_one_line(tmp_path: Path) -> None:
    def build() -> Flask:
        return create_app(Config.from_env({"DATA_DIR": str(tmp_path), "RATE_LIMIT_USER": "often"}))

    command = FlaskGroup(create_app=build)
    result = CliRunner().invoke(command, ["backup", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert result.output == "Error: RATE_LIMIT_USER must look like 100/minute, not 'often'\n"


def test_a_mistake_of_ours_stays_one(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("app.backup.commands.write_backup", fail)
    result = app.test_cli_runner().invoke(args=["backup", "/tmp/never"])
    assert isinstance(result.exception, ZeroDivisionError)
