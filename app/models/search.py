"""What the search knows of a text: its words, its passages and their vectors."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, Integer, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped

from app.db.types import Identifier, JsonText, string
from app.models.columns import Record, column


class SearchEntry(Record):
    """A record as its text was when ``revision`` was read.

    Whether a caller may find it is not said here: the record itself is asked.
    """

    __tablename__ = "search_entries"

    entity: Mapped[str] = column(string(20), "Type of the record.")
    entity_id: Mapped[int] = column(Identifier, "Key of the record.")
    revision: Mapped[int] = column(Identifier, "Row version that was read.")
    # From a counter whose row the writer locks: a process reads what is above what it knows.
    change: Mapped[int] = column(Identifier, "Number of the change.")
    language: Mapped[str] = column(string(10), "Language of the terms.")
    category: Mapped[str | None] = column(string(100), "Category.")
    terms: Mapped[dict[str, list[int]]] = column(
        JsonText(), "Term -> times in the title, times in the text."
    )
    length: Mapped[int] = column(Integer, "Terms in all.")
    passages: Mapped[list[str]] = column(JsonText(), "Pieces of the plain text.")
    model: Mapped[str | None] = column(string(60), "Model of the vectors.")
    dimension: Mapped[int | None] = column(Integer, "Numbers of a vector.")
    vectors: Mapped[bytes | None] = column(
        LargeBinary(), "A vector for each passage, float32, one after the other."
    )

    __table_args__: Any = (
        UniqueConstraint("entity", "entity_id"),
        Index("ix_search_entries_entity_change", "entity", "change"),
    )
