"""Everything before the first request: the schema, the administrator, the demo data."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError

from app.config import Config, ConfigError
from app.db.outages import problem_for_operator
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
    except SQLAlchemyError as error:
        problem = problem_for_operator(error)
        if problem is None:
            raise
        raise ConfigError(f"the database cannot be used: {problem}") from error
    return administrator
