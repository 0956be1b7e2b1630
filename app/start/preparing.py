"""Everything before the first request: the schema, the administrator, the demo data."""

from __future__ import annotations

from sqlalchemy.exc import OperationalError

from app.config import Config, ConfigError
from app.demo.load import load_demo_data
from app.factory import create_app
from app.start.banner import Administrator
from app.start.bootstrap import ensure_administrator, migrate, wants_demo_data


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
    except OperationalError as error:
        raise ConfigError(reason(error)) from error
    return administrator


def reason(error: OperationalError) -> str:
    """Why the database could not be used, on one line.

    A full disk ends the transaction: what is told last is only that there is none any more.
    """
    cause: BaseException | None = error
    while cause is not None:
        if "disk is full" in str(cause):
            return "the disk is full, or the quota of the data folder"
        cause = cause.__cause__ or cause.__context__
    return f"the database does not answer: {str(error.orig).splitlines()[0]}"
