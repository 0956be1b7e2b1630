"""A start that has nothing to prepare finds that out without loading the application."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from app.config import Config
from app.db.engines import MIGRATIONS
from app.start.banner import Administrator
from app.start.checks import database_path, find_prepared, newest_version

ROOT = Path(__file__).parents[2]


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[tuple[Config, sqlite3.Connection]]:
    """What is looked at of a database that is ready, and a connection to spoil it."""
    (tmp_path / "a folder").mkdir()
    config = Config(
        SECRET_KEY="k" * 32, DATA_DIR=tmp_path, ADMIN_USERNAME="boss", DEMO_DATA=True,
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / 'a folder' / '100% ours'}.db",
    )  # fmt: skip
    path = database_path(config)
    assert path == tmp_path / "a folder" / "100% ours.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", (newest_version(),))
        for table in ("users", "clients"):
            connection.execute(f"CREATE TABLE {table} (id INTEGER)")
            connection.execute(f"INSERT INTO {table} VALUES (1)")
        yield config, connection


def test_the_newest_migration_is_alembics() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [newest_version()]


def test_what_is_there_needs_nothing(prepared: tuple[Config, sqlite3.Connection]) -> None:
    config, _ = prepared
    assert find_prepared(config) == Administrator("boss", None, None)
    (config.DATA_DIR / "admin_password").write_text("secret")
    assert find_prepared(config) == Administrator("boss", None, config.DATA_DIR / "admin_password")


@pytest.mark.parametrize(
    "spoil",
    [
        "UPDATE alembic_version SET version_num = '0001'",
        "INSERT INTO alembic_version VALUES ('0001')",
        "DELETE FROM alembic_version",
        "DROP TABLE alembic_version",
        "DELETE FROM users",
        "DELETE FROM clients",
        "DROP TABLE users",
    ],
)
def test_what_is_missing_is_to_be_prepared(
    prepared: tuple[Config, sqlite3.Connection], spoil: str
) -> None:
    config, connection = prepared
    connection.execute(spoil)
    assert find_prepared(config) is None


def test_without_demo_data_a_user_is_enough(prepared: tuple[Config, sqlite3.Connection]) -> None:
    config, connection = prepared
    connection.execute("DELETE FROM clients")
    without = Config(
        SECRET_KEY=config.SECRET_KEY, DATA_DIR=config.DATA_DIR, DEMO_DATA=False,
        SQLALCHEMY_DATABASE_URI=config.SQLALCHEMY_DATABASE_URI,
    )  # fmt: skip
    assert find_prepared(without) is not None


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("postgresql+psycopg://localhost/platform", None),
        ("sqlite://", None),
        ("sqlite:////var/data/platform.db?timeout=5", Path("/var/data/platform.db")),
    ],
)
def test_a_server_is_asked_by_the_application(
    address: str, path: Path | None, tmp_path: Path
) -> None:
    config = Config(SECRET_KEY="k" * 32, DATA_DIR=tmp_path, SQLALCHEMY_DATABASE_URI=address)
    assert database_path(config) == path
    assert find_prepared(config) is None


def test_a_start_loads_no_application_before_it_is_needed() -> None:
    asked = (
        "import sys, app.start.__main__; print('sqlalchemy' in sys.modules, 'flask' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["False", "False"]


@pytest.mark.costly(2)
@pytest.mark.parametrize("command", [["flask", "--app", "wsgi", "--help"], ["wsgi"]])
def test_a_wrong_setting_is_one_line(command: list[str], tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "DATA_DIR": str(tmp_path), "MAIL_URL": "gopher://x"},
    )  # fmt: skip
    assert told.returncode != 0
    assert told.stderr == (
        "Cannot start: MAIL_URL must be smtp://host:port, smtps://host:port or file:///folder\n"
    )
