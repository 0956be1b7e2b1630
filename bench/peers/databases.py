"""Where the rows are kept: SQLite files in the work folder, or two databases of one PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

from app.config import database_url
from bench.peers.processes import parent_of

OURS = "bp_bench_ours"
PEER = "bp_bench_peer"


@dataclass(frozen=True)
class Sqlite:
    """Two files in ``folder``."""

    folder: Path
    name: str = "SQLite"

    @property
    def ours(self) -> str:
        """SQLAlchemy's address of our database."""
        return f"sqlite:///{self.folder / 'ours.db'}"

    @property
    def peer_file(self) -> Path:
        """The file that the peers serve."""
        return self.folder / "peer.db"

    def prepare(self) -> None:
        """Files are made by whoever opens them."""

    def has_peer_rows(self) -> bool:
        """Whether the peers' rows are there already."""
        return self.peer_file.exists()

    def make_data_options(self) -> list[str]:
        """Where make_data.py is to write."""
        return ["--sqlite", str(self.peer_file)]

    def peer_environment(self) -> dict[str, str]:
        """What CAP is told."""
        return {"PEER_DB": str(self.peer_file)}

    def plain_environment(self) -> dict[str, str]:
        """What the libraries alone are told."""
        return {**self.peer_environment(), "PLAIN_DB": f"sqlite:///{self.peer_file}"}

    def server_processes(self) -> tuple[int, ...]:
        """SQLite works inside the server that is measured."""
        return ()


@dataclass(frozen=True)
class Postgresql:
    """Two databases of the server at ``server``; all its processes are charged for the work."""

    server: URL
    name: str = "PostgreSQL"

    @classmethod
    def at(cls, url: str) -> Postgresql:
        """From an address such as ``postgresql://postgres@127.0.0.1:5432``."""
        return cls(make_url(database_url(url)).set(database="postgres"))

    @property
    def ours(self) -> str:
        """SQLAlchemy's address of our database."""
        return self.server.set(database=OURS).render_as_string(hide_password=False)

    def prepare(self) -> None:
        """Create the two databases where they are missing."""
        with psycopg.connect(self._dsn("postgres"), autocommit=True) as connection:
            rows = connection.execute("SELECT datname FROM pg_database")
            known = {str(row[0]) for row in rows}
            for name in {OURS, PEER} - known:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def has_peer_rows(self) -> bool:
        """Whether the peers' rows are there already."""
        with psycopg.connect(self._dsn(PEER)) as connection:
            row = connection.execute("SELECT to_regclass('lineitems') IS NOT NULL").fetchone()
        return bool(row and row[0])

    def make_data_options(self) -> list[str]:
        """Where make_data.py is to write."""
        return ["--pg", self._dsn(PEER)]

    def peer_environment(self) -> dict[str, str]:
        """What CAP is told."""
        url = self.server.set(drivername="postgres", database=PEER)
        return {"PEER_PG": url.render_as_string(hide_password=False)}

    def plain_environment(self) -> dict[str, str]:
        """What the libraries alone are told."""
        return {"PEER_PG": self._dsn(PEER), "PLAIN_DB": database_url(self._dsn(PEER))}

    def server_processes(self) -> tuple[int, ...]:
        """The postmaster: the parent of the process that answers us."""
        with psycopg.connect(self._dsn("postgres")) as connection:
            return (parent_of(connection.info.backend_pid),)

    def _dsn(self, database: str) -> str:
        url = self.server.set(drivername="postgresql", database=database)
        return url.render_as_string(hide_password=False)


Database = Sqlite | Postgresql
