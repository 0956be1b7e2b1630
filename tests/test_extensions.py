"""The engines of an application are its own, and so is its session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from app.db.transactions import has_begun, note, noted
from app.extensions import READ, db


@pytest.mark.only_on("sqlite")
def test_each_application_has_engines_of_its_own(
    make_app: Callable[..., Flask], tmp_path: Path
) -> None:
    apps = [
        make_app(SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / name}.db") for name in ("a", "b")
    ]
    engines = []
    for app in apps:
        with app.app_context():
            assert db.engine is not db.engines[READ]
            assert db.engine.hide_parameters and db.engines[READ].hide_parameters
            engines.append(db.engine)
    assert engines[0] is not engines[1]


@pytest.mark.parametrize("end", ["commit", "rollback", "remove"])
def test_what_is_noted_of_a_transaction_ends_with_it(app: Flask, end: str) -> None:
    with app.app_context():
        assert not has_begun()
        db.session.connection()
        note("name", 1)
        assert has_begun()
        assert noted("name") == 1
        getattr(db.session, end)()
        assert not has_begun()
        assert noted("name") is None
