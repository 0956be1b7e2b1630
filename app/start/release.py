"""The release step of a deployment: migrates, and makes the first administrator."""

from __future__ import annotations

import os
import sys

from dotenv import load_dotenv
from sqlalchemy.exc import SQLAlchemyError

from app.config import Config, ConfigError
from app.db.outages import problem_for_operator
from app.factory import create_app
from app.start.bootstrap import ensure_administrator, has_rows, migrate


def main() -> int:
    """Returns the exit status: a release that fails must not go live."""
    load_dotenv()
    try:
        config = Config.from_env(os.environ)
        app = create_app(config)
        with app.app_context():
            migrate()
            if config.ADMIN_PASSWORD:
                ensure_administrator(app)
            elif not has_rows("users"):
                print("There is no user yet: set ADMIN_PASSWORD, or use `flask user create`.")
    except ConfigError as error:
        print(f"Cannot release: {error}", file=sys.stderr)
        return 1
    except SQLAlchemyError as error:
        problem = problem_for_operator(error)
        if problem is None:
            raise
        print(f"Cannot release: the database cannot be used: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
