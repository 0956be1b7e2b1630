"""Whether a start has nothing to prepare, found without loading the application.

Nearly every start on a laptop is one of a database that is there, of this release, with its data.
To load all that could prepare it takes longer than the web process needs to answer.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from app.config import Config
from app.start.banner import PASSWORD_FILE, Administrator

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
