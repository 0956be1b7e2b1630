"""``make run``: checks, migrates, fills an empty database, then starts web and worker."""

from __future__ import annotations

import os
import sys

from dotenv import load_dotenv
from sqlalchemy import make_url
from sqlalchemy.exc import OperationalError

from app.config import Config, ConfigError, data_folder
from app.demo.load import load_demo_data
from app.factory import create_app
from app.start.banner import banner
from app.start.bootstrap import (
    Administrator,
    ensure_administrator,
    migrate,
    wants_demo_data,
)
from app.start.checks import (
    check_data_dir,
    check_database_file,
    check_port,
    check_web_processes,
)
from app.start.processes import run_processes

HOST = "127.0.0.1"
DEFAULT_PORT = "8000"


def main() -> int:
    """Start everything; returns the exit status. What stops the start is one line."""
    load_dotenv()
    try:
        port = read_port(os.environ.get("PORT") or DEFAULT_PORT)
        check_port(HOST, port)
        administrator = prepare()
    except ConfigError as error:
        print(f"Cannot start: {error}", file=sys.stderr)
        return 1
    except OperationalError as error:
        print(f"Cannot start: {reason(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    address = f"http://{HOST}:{port}"
    env = {**os.environ, "PORT": str(port)}
    return run_processes(env, address, lambda: print(banner(address, administrator), flush=True))


def prepare() -> Administrator:
    """Everything before the first request: folders, schema, administrator, demo data."""
    check_data_dir(data_folder(os.environ))
    config = Config.from_env(os.environ)
    check_web_processes(config.WEB_CONCURRENCY, config.REDIS_URL)
    if config.is_sqlite:
        check_database_file(make_url(config.SQLALCHEMY_DATABASE_URI).database)
    app = create_app(config)
    with app.app_context():
        migrate()
        administrator = ensure_administrator(app)
        if wants_demo_data():
            load_demo_data()
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


def read_port(text: str) -> int:
    """A port from its variable.

    Raises: ConfigError, it is none.
    """
    if not text.isdigit() or not 0 < int(text) < 65_536:
        raise ConfigError(f"PORT must be a number from 1 to 65535, not {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
