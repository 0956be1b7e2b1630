"""``make run``: checks, migrates, fills an empty database, then starts web and worker."""

from __future__ import annotations

import os
import sys

from dotenv import load_dotenv

from app.config import Config, ConfigError, data_folder, web_port
from app.start.banner import Administrator, banner
from app.start.checks import (
    check_data_dir,
    check_database_file,
    check_port,
    check_web_processes,
    database_path,
    find_prepared,
    hold_folder,
)
from app.start.processes import run_processes

HOST = "127.0.0.1"


def main() -> int:
    """Start everything; returns the exit status. What stops the start is one line."""
    load_dotenv()
    try:
        port = web_port(os.environ)
        address = f"http://{HOST}:{port}"
        folder = data_folder(os.environ)
        check_data_dir(folder)
        held = hold_folder(folder, address)
        check_port(HOST, port)
        administrator = prepare()
    except ConfigError as error:
        print(f"Cannot start: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    env = {**os.environ, "PORT": str(port)}
    with held:
        return run_processes(
            env, address, lambda: print(banner(address, administrator), flush=True)
        )


def prepare() -> Administrator:
    """Everything before the first request: schema, administrator, demo data."""
    config = Config.from_env(os.environ)
    check_web_processes(config.WEB_CONCURRENCY, config.REDIS_URL)
    if path := database_path(config):
        check_database_file(path)
    if (administrator := find_prepared(config)) is not None:
        return administrator
    from app.start import bootstrap  # the application and its migrations

    return bootstrap.prepare(config)


if __name__ == "__main__":
    sys.exit(main())
