"""The first start: the schema, an administrator, and demo data where there is no data."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import flask_migrate
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask, current_app
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from app.auth.users import create_user
from app.config import Config, ConfigError
from app.db.engines import MIGRATIONS, read_engine, transaction
from app.db.outages import problem_for_operator
from app.demo.load import load_demo_data
from app.errors import ValidationError
from app.extensions import Model, db
from app.factory import create_app
from app.start.banner import PASSWORD_FILE, Administrator


def migrate() -> None:
    """Bring the schema up to date; a schema that is up to date costs a few milliseconds."""
    script = ScriptDirectory(str(MIGRATIONS))
    with db.engine.connect() as connection:
        current = MigrationContext.configure(connection).get_current_heads()
    if set(current) != set(script.get_heads()):
        flask_migrate.upgrade()


def ensure_administrator(app: Flask) -> Administrator:
    """The administrator of ``app``; made with the first start.

    Without ADMIN_PASSWORD a random one is made and kept in DATA_DIR, for its owner's eyes only,
    so that a later start can say where it is.

    Raises: ConfigError, the name or the password given is refused.
    """
    username = app.config["ADMIN_USERNAME"]
    path: Path = app.config["DATA_DIR"] / PASSWORD_FILE
    if has_rows("users"):
        return Administrator(username, None, path if path.exists() else None)
    configured = app.config["ADMIN_PASSWORD"]
    password = configured or secrets.token_urlsafe(12)
    try:
        with transaction():
            create_user(
                username=username,
                email=None,
                display_name="Administrator",
                password=password,
                roles=["Admin"],
            )
            if not configured:
                _keep_private(path, password)
    except ValidationError as error:
        raise ConfigError(_refused_setting(error)) from error
    return Administrator(username, password, None if configured else path)


def _refused_setting(error: ValidationError) -> str:
    """``ADMIN_PASSWORD: must have at least 12 characters``."""
    return "; ".join(
        f"ADMIN_{problem.field.upper()}: {problem.message}" for problem in error.details
    )


def has_rows(table: str) -> bool:
    """Whether there is a row in ``table``."""
    with read_engine().connect() as connection:
        query = select(Model.metadata.tables[table].c.id).limit(1)
        return connection.execute(query).first() is not None


def wants_demo_data() -> bool:
    """Whether demo data is wanted, and there is nothing yet that it could get in the way of."""
    return bool(current_app.config["DEMO_DATA"]) and not has_rows("clients")


def _keep_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def prepare(config: Config) -> Administrator:
    """Bring the database to where the service can begin.

    Raises: ConfigError, a setting is wrong or the database cannot be used.
    """
    try:
        app = create_app(config)
        with app.app_context():
            migrate()
            administrator = ensure_administrator(app)
            if wants_demo_data():
                load_demo_data()
    except SQLAlchemyError as error:
        problem = problem_for_operator(error)
        if problem is None:
            raise
        raise ConfigError(f"the database cannot be used: {problem}") from error
    return administrator
