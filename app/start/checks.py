"""What would stop the start later and less clearly: each is one line here."""

from __future__ import annotations

import socket
import sqlite3
import tempfile
from pathlib import Path

from app.config import ConfigError


def check_data_dir(folder: Path) -> None:
    """Make the folder for data where it is missing; refuse one that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"DATA_DIR {folder} cannot be written to ({error.strerror}):"
            " name another one, as in DATA_DIR=/path/to/folder make run"
        ) from error


def check_database_file(path: Path) -> None:
    """Refuse a database file that is none, or cannot be written to."""
    if not path.exists():
        return
    try:
        connection = sqlite3.connect(path, timeout=5)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ConfigError(f"the database file {path} cannot be used: {error}") from error


def check_port(host: str, port: int) -> None:
    """Refuse a port on which something listens already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(
                f"port {port} cannot be had ({error.strerror}):"
                f" stop what uses it, or choose another, as in PORT={port + 1} make run"
            ) from error


def check_web_processes(count: int, redis_url: str | None) -> None:
    """Refuse several web processes without Redis: each would count the limits for itself."""
    if count > 1 and not redis_url:
        raise ConfigError(f"WEB_CONCURRENCY is {count}: more than one web process needs REDIS_URL")
