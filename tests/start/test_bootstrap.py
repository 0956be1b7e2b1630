"""The first start makes an administrator; later ones leave everything as it is."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config import ConfigError
from app.http.security import set_caller
from app.models.user import User
from app.start.bootstrap import ensure_administrator, migrate, wants_demo_data


def sign_in(app: Flask, username: str, password: str | None) -> int:
    answer = app.test_client().post(
        "/api/auth/login", json={"username": username, "password": password}
    )
    return answer.status_code


@pytest.fixture(autouse=True)
def nobody() -> None:
    """A start is nobody's request; the thread may have answered one for a test before."""
    set_caller(None)


@pytest.mark.requirement("SEC-28")
def test_first_start_makes_an_administrator_with_a_random_password(
    make_app: Callable[..., Flask], tmp_path: Path
) -> None:
    app = make_app(DATA_DIR=tmp_path, ADMIN_USERNAME="boss")
    with app.app_context():
        made = ensure_administrator(app)
    assert sign_in(app, "boss", made.password) == 200
    file = tmp_path / "admin_password"
    assert made.password_file == file
    assert file.read_text() == f"{made.password}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_given_password_is_used_and_kept_nowhere(
    make_app: Callable[..., Flask], tmp_path: Path
) -> None:
    app = make_app(DATA_DIR=tmp_path, ADMIN_PASSWORD="correct horse battery staple")
    with app.app_context():
        ensure_administrator(app)
    assert sign_in(app, "admin", "correct horse battery staple") == 200
    assert not (tmp_path / "admin_password").exists()


def test_a_password_that_is_refused_is_a_setting_that_stops_the_start(
    make_app: Callable[..., Flask], tmp_path: Path
) -> None:
    app = make_app(DATA_DIR=tmp_path, ADMIN_PASSWORD="short")
    with app.app_context(), pytest.raises(ConfigError, match=r"^ADMIN_PASSWORD: .*12 characters"):
        ensure_administrator(app)


def test_later_start_makes_nobody_and_tells_no_password(
    make_app: Callable[..., Flask], tmp_path: Path, session: Session
) -> None:
    app = make_app(DATA_DIR=tmp_path)
    with app.app_context():
        first = ensure_administrator(app)
        later = ensure_administrator(app)
    assert (later.password, later.password_file) == (None, first.password_file)
    assert session.scalar(select(func.count()).select_from(User)) == 1


def test_demo_data_is_for_empty_databases_that_want_it(make_app: Callable[..., Flask]) -> None:
    with make_app().app_context():
        assert wants_demo_data()
    with make_app(DEMO_DATA=False).app_context():
        assert not wants_demo_data()


def test_schema_that_is_up_to_date_stays(app: Flask) -> None:
    with app.app_context():
        migrate()
        assert wants_demo_data()
