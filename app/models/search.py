"""What the search knows of a text: its words, its passages and their vectors."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, string
from app.models.columns import Record, column


class SearchEntry(Record):
    """A record as its text was when ``revision`` was read.

    Whether a caller may find it is not said here: the record itself is asked.
    """

    __tablename__ = "search_entries"

    entity: Mapped[str] = column("Type of the record.", string(20))
    entity_id: Mapped[int] = column("Key of the record.", Identifier)
    revision: Mapped[int] = column("Row version that was read.", Identifier)
    # From a counter whose row the writer locks: a process reads what is above what it knows.
    change: Mapped[int] = column("Number of the change.", Identifier)
    language: Mapped[str] = column("Language of the terms.", string(10))
    category: Mapped[str | None] = column("Category.", string(100))
    terms: Mapped[dict[str, list[int]]] = column(
        "Term -> times in the title, times in the text.", JsonText()
    )
    length: Mapped[int] = column("Terms in all.")
    passages: Mapped[list[str]] = column("Pieces of the plain text.", JsonText())
    model: Mapped[str | None] = column("Model of the vectors.", string(60))
    dimension: Mapped[int | None] = column("Numbers of a vector.")
    vectors: Mapped[bytes | None] = column(
        "A vector for each passage, float32, one after the other.", LargeBinary()
    )

    __table_args__: Any = (
        UniqueConstraint("entity", "entity_id"),
        Index("ix_search_entries_entity_change", "entity", "change"),
    )
