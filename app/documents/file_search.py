"""Searching in the names and texts of files, among the documents that the caller may read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select, text

from app.db.engines import read_engine
from app.db.types import AnyRow
from app.documents.schemas import FoundDocumentSchema
from app.errors import ValidationError
from app.events import entity_url
from app.http.schema_parts import answer_body
from app.http.security import current_caller
from app.models.document import Document, DocumentContent, DocumentVersion
from app.models.indexes import MINIMUM_LENGTH, fts_table
from app.models.searched import plain_letters, search_text
from app.permissions import row_filter

# Characters of a snippet before and behind what was found.
BEFORE, BEHIND = 60, 140
_FOUND_BY_TRIGRAMS = (
    "document_contents.id IN (SELECT rowid FROM {0} WHERE {0} MATCH :wanted)"  # nosec B608  # names of our own tables
).format(fts_table("document_contents"))


def search_documents(q: str, *, limit: int, offset: int) -> dict[str, Any]:
    """Documents with every word of ``q`` in their name or current file, however it is written.

    Those with the first word in their name come first, and then what changed last.

    Raises: ValidationError, no word has three letters; ForbiddenError.
    """
    words = search_text(q).split()
    if not any(len(word) >= MINIMUM_LENGTH for word in words):
        raise ValidationError([("q", f"a word of at least {MINIMUM_LENGTH} letters is needed")])
    with read_engine().connect() as connection:
        matching = _matching(connection, words)
        total = connection.execute(
            select(func.count()).select_from(matching.subquery())
        ).scalar_one()
        in_name = case((Document.name.icontains(words[0], autoescape=True), 0), else_=1)
        page = matching.add_columns(DocumentContent.body).order_by(
            in_name, Document.updated_at.desc(), Document.id.desc()
        )
        rows = connection.execute(page.limit(limit).offset(offset)).all()
    return {
        "query": q,
        "total": total,
        "limit": limit,
        "offset": offset,
        "items": [_describe(row, words) for row in rows],
    }


def _matching(connection: Connection, words: list[str]) -> Select[*tuple[Any, ...]]:
    """The documents that have every word, of those the caller may read."""
    statement = (
        select(
            Document.id, Document.name, Document.file_name, Document.category,
            Document.content_type, Document.size, Document.status,
            Document.updated_at,
        )
        .join(
            DocumentVersion,
            (DocumentVersion.document_id == Document.id)
            & (DocumentVersion.number == Document.file_version),
        )
        .join(DocumentContent, DocumentContent.version_id == DocumentVersion.id)
        .where(Document.status != "Deleted", *_has(connection, words))
    )  # fmt: skip
    readable = row_filter(current_caller(), "documents", Document.__table__.c)
    if readable is None:
        return statement
    return statement.where(readable).params(dyn_caller_id=current_caller().user_id)


def _has(connection: Connection, words: list[str]) -> list[ColumnElement[bool]]:
    # Words have letters and digits only: there is nothing to escape in them.
    conditions: list[Any] = [
        DocumentContent.folded.like(f"%{word}%") for word in dict.fromkeys(words)
    ]
    if connection.dialect.name == "sqlite":
        long = [f'"{word}"' for word in words if len(word) >= MINIMUM_LENGTH]
        conditions.insert(0, text(_FOUND_BY_TRIGRAMS).bindparams(wanted=" AND ".join(long)))
    return conditions


def _describe(row: AnyRow, words: list[str]) -> dict[str, Any]:
    url = entity_url("Document", row.id)
    return answer_body(FoundDocumentSchema, row, snippet=snippet(row.body, words), url=url)


def snippet(body: str | None, words: list[str]) -> str | None:
    """The text around the first word found, on one line; the beginning when none stands there."""
    if not body:
        return None
    letters = plain_letters(body)
    places = [position for word in words if (position := letters.find(word)) >= 0]
    # Plain letters may be a few more than those of the text; the place is near enough.
    at = min(places, default=0) * len(body) // max(1, len(letters))
    start, end = max(0, at - BEFORE), min(len(body), at + BEHIND)
    cut = " ".join(body[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(body) else ''}"
