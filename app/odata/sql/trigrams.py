"""The index behind ``contains`` and ``$search``: what three characters a row's texts have.

What it has of a row is one text in a plain form, which leaves things out (case, accents,
punctuation): what is found by it is confirmed by the exact predicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import FromClause, Text, literal_column

from app.odata.sql.dialect_sql import Predicate

# A shorter text has no trigram: then the exact predicate alone decides.
MINIMUM_LENGTH = 3


@dataclass(frozen=True)
class Trigrams:
    # SQLite's FTS5 table, its rowid the key.
    table: str
    # PostgreSQL's column with the text.
    column: str
    # What the index has of every row that has the given text in it; None: nothing is certain.
    part: Callable[[str], str | None]
    # SQLite's table of rows that have changed since they entered ``table``: the key in ``id`` and
    # in ``text`` what is to be found of the row, if anything.
    waiting: str

    def serves(self, sought: str) -> bool:
        """Whether rows with ``sought`` are found by the index."""
        return len(self.indexed_text(sought)) >= MINIMUM_LENGTH

    def indexed_text(self, sought: str) -> str:
        """What the index has of every row with ``sought``."""
        return self.part(sought) or ""

    def narrowed(
        self,
        exact: tuple[str, str],
        text: Any,
        sought: Any,
        table: FromClause,
        value: Callable[[Callable[[str], str]], Any],
    ) -> Predicate:
        """The predicate ``exact`` of ``text`` and ``sought`` behind what the index finds.

        Args:
            exact: its template for SQLite, and that for PostgreSQL.
            table: the alias of the rows.
            value: a value of the statement that is made of what is sought by a function.
        """
        sqlite, postgresql = exact
        rows = (
            f"SELECT rowid FROM {self.table} WHERE {self.table} MATCH {{3}}"  # nosec B608
            f" UNION ALL SELECT id FROM {self.waiting} WHERE instr(text, {{4}}) > 0"
        )
        return Predicate(
            f"({{2}} IN ({rows}) AND {sqlite})",
            f"({{5}} LIKE {{6}} AND {postgresql})",
            text,
            sought,
            table.c.id,
            value(lambda text: _as_phrase(self.indexed_text(text))),
            value(self.indexed_text),
            literal_column(f"{table.name}.{self.column}", Text()),  # type: ignore[attr-defined]
            value(lambda text: f"%{_escaped(self.indexed_text(text))}%"),
        )


def _as_phrase(text: str) -> str:
    """A phrase of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


def _escaped(text: str) -> str:
    """``text`` as a pattern of LIKE that matches nothing else."""
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
