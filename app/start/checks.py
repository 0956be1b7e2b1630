"""What a start looks at before it loads the application.

What would stop it later and less clearly is one line here. Nearly every start on a laptop is one of
a database that is there, of this release, with its data: to load all that could prepare it takes
longer than the web process needs to answer.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import IO
from urllib.parse import quote

from app.config import Config, ConfigError
from app.start.banner import PASSWORD_FILE, Administrator

FILE = "service.lock"
# Between the lock and the name of its holder lies no work.
NAMED_WITHIN_SECONDS = 2.0


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


def hold_folder(folder: Path, address: str) -> IO[str]:
    """Lock ``folder`` for this process, which ``address`` belongs to.

    Returns: the open file: the lock ends with it, or with the process, however that ends.
    Raises: ConfigError, another process has the folder; its message names that.
    """
    file = (folder / FILE).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = _holder(file)
        file.close()
        reason = f"in use by {holder}" if isinstance(error, BlockingIOError) else error.strerror
        raise ConfigError(
            f"DATA_DIR {folder} cannot be had ({reason}):"
            " stop that, or name another folder, as in DATA_DIR=/path/to/folder make run"
        ) from error
    file.truncate(0)
    file.write(f"process {os.getpid()} at {address}")
    file.flush()
    return file


def _holder(file: IO[str]) -> str:
    """Who has the lock; one that has just taken it writes its name in a moment."""
    until = time.monotonic() + NAMED_WITHIN_SECONDS
    while True:
        file.seek(0)
        if holder := file.read().strip():
            return holder
        if time.monotonic() > until:
            return "another process"
        time.sleep(0.02)


_VERSIONS = Path(__file__).parents[2] / "migrations" / "versions"


def database_path(config: Config) -> Path | None:
    """The file of the embedded database; None for a server."""
    scheme, _, path = config.SQLALCHEMY_DATABASE_URI.partition(":///")
    return Path(path.partition("?")[0]) if path and scheme.startswith("sqlite") else None


def find_prepared(config: Config) -> Administrator | None:
    """The administrator, where the schema is up to date and all that a start makes is there."""
    path = database_path(config)
    if path is None or not path.exists():
        return None
    tables = ["users", *(["clients"] if config.DEMO_DATA else [])]
    address = f"file:{quote(str(path))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=5)) as connection:
            versions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            if versions != [(newest_version(),)]:
                return None
            for table in tables:
                if not connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # nosec B608
                    return None
    except sqlite3.Error:  # what is wrong with it is for those to say who use it
        return None
    file = config.DATA_DIR / PASSWORD_FILE
    return Administrator(config.ADMIN_USERNAME, None, file if file.exists() else None)


def newest_version() -> str:
    """The newest migration: their files begin with their numbers."""
    return max(file.name[:4] for file in _VERSIONS.glob("[0-9]*.py"))
