"""The engines of an application: its own, and where their files lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import make_url

from app.extensions import READ, WRITE, Database


def made(database: Database, folder: Path, url: str) -> Flask:
    app = Flask(__name__, instance_path=str(folder))
    options = {"url": make_url(url), "hide_parameters": True}
    database.init_app(app, {WRITE: options, READ: options})
    return app


@pytest.mark.parametrize(
    ("url", "file"),
    [("sqlite:///a.db", "{}/instance/a.db"), ("sqlite:///{}/b.db", "{}/b.db"),
     ("sqlite://", "None"), ("sqlite:///file:c.db?uri=true", "file:c.db")],
    ids=["a name", "a path", "in memory", "an address of SQLite"],
)  # fmt: skip
def test_a_file_named_without_a_folder_lies_in_that_of_the_application(
    tmp_path: Path, url: str, file: str
) -> None:
    database = Database()
    app = made(database, tmp_path / "instance", url.format(tmp_path))
    with app.app_context():
        assert str(database.engine.url.database) == file.format(tmp_path)
    assert (tmp_path / "instance").exists() == (url == "sqlite:///a.db")


def test_each_application_has_engines_of_its_own(tmp_path: Path) -> None:
    database = Database()
    one, other = (made(database, tmp_path / name, "sqlite:///a.db") for name in ("one", "other"))
    with one.app_context():
        first = database.engines
        assert database.engine is first[WRITE] is not first[READ]
        assert first[WRITE].hide_parameters
    with other.app_context():
        assert database.engine is not first[WRITE]
