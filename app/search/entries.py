"""What the index keeps of a text: made once, when the text changes, and written with the change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, insert

from app.clock import utc_now
from app.db import records
from app.models.search import SearchEntry
from app.search import pgvector
from app.search.analysis import terms
from app.search.embedding import DIMENSION, MODEL, EmbeddingModel
from app.search.short_forms import short_forms
from app.writing.numbering import next_number

# Measured on public collections: shorter lose what the words are about, longer blur it.
WORDS = 110
# A rest shorter than this stays with the piece before it.
SHORTEST = 25
# 200,000 characters are some 300 pieces; the vectors of one article stay under 500 KB.
MOST = 320
# The counter that every change of an entry takes its number from.
CHANGES = "search"


@dataclass(frozen=True)
class EntryColumns:
    """The columns of an entry that follow from its text."""

    terms: dict[str, list[int]]
    length: int
    passages: list[str]
    vectors: Any


def keyed(term: str, language: str) -> str:
    """A term of one language: the German ``die`` is not the English one."""
    return f"{language}:{term}"


def make_entry(title: str, text: str, language: str, model: EmbeddingModel | None) -> EntryColumns:
    """The same as ``make_entries`` of one text."""
    return make_entries([(title, text, language)], model)[0]


def make_entries(
    texts: Sequence[tuple[str, str, str]],
    model: EmbeddingModel | None,
    *,
    before_each: Callable[[], object] | None = None,
) -> list[EntryColumns]:
    """Terms, passages and vectors of texts.

    Args:
        texts: title, text without markup, language in two letters.
        before_each: as in ``EmbeddingModel.embed``; a long text takes many seconds.
    """
    pieces = [passages(text) for _, text, _ in texts]
    blocks: list[Any] = [None] * len(texts)
    if model is not None:
        flat = [
            titled(title, piece)
            for (title, _, _), own in zip(texts, pieces, strict=True)
            for piece in own
        ]
        vectors, start = model.embed(flat, before_each), 0
        for index, own in enumerate(pieces):
            blocks[index] = vectors[start : start + len(own)]
            start += len(own)
    return [
        EntryColumns(*_counted(title, text, language), own, block)
        for (title, text, language), own, block in zip(texts, pieces, blocks, strict=True)
    ]


def _counted(title: str, text: str, language: str) -> tuple[dict[str, list[int]], int]:
    """Terms with how often title and text have them, and how many there are."""
    of_title, of_text = terms(title, language), terms(text, language)
    counts: dict[str, list[int]] = {}
    for column, column_terms in enumerate((of_title, of_text)):
        for term in column_terms:
            counts.setdefault(keyed(term, language), [0, 0])[column] += 1
    for term in short_forms(title, text, language):
        counts[keyed(term, language)] = [0, 1]
    return counts, len(of_title) + len(of_text)


# A question of more words than this is a text; its first words say what it is about.
MOST_QUERY_TERMS = 100


def query_terms(text: str, languages: Sequence[str]) -> list[str]:
    """The terms of a question in every language that the index has: nobody says which it is in."""
    query: dict[str, None] = {}
    for language in languages:
        own = dict.fromkeys(terms(text, language))
        query |= dict.fromkeys(keyed(term, language) for term in list(own)[:MOST_QUERY_TERMS])
    return list(query)


def passages(text: str) -> list[str]:
    """The pieces of a text, each of about ``WORDS`` words; at least one, which may be empty."""
    words = text.split()
    pieces = [words[start : start + WORDS] for start in range(0, len(words), WORDS)]
    if len(pieces) > 1 and len(pieces[-1]) < SHORTEST:
        pieces[-2:] = [pieces[-2] + pieces[-1]]
    return [" ".join(piece) for piece in pieces[:MOST]] or [""]


def titled(title: str, passage: str) -> str:
    """What the model is given of a piece: it is about the title, wherever it stands."""
    return f"{title}. {passage}" if passage else title


def store(
    entity: str,
    key: int,
    columns: EntryColumns,
    *,
    revision: int,
    language: str,
    category: str | None,
) -> None:
    """Put an entry in place of the one before; the counter is locked until the commit."""
    _remove((SearchEntry.entity == entity) & (SearchEntry.entity_id == key))
    vectors: dict[str, Any] = {"model": None, "dimension": None, "vectors": None}
    if columns.vectors is not None:
        import numpy  # large: loaded by who has vectors

        flat = numpy.ascontiguousarray(columns.vectors, dtype="<f4").tobytes()
        vectors = {"model": MODEL, "dimension": DIMENSION, "vectors": flat}
    row = {
        "created_at": utc_now(),
        "entity": entity,
        "entity_id": key,
        "revision": revision,
        "change": next_number(CHANGES),
        "language": language,
        "category": category,
        "terms": columns.terms,
        "length": columns.length,
        "passages": columns.passages,
        **vectors,
    }
    connection = records.connection()
    added = connection.execute(insert(SearchEntry).returning(SearchEntry.id), row).scalar_one()
    if vectors["vectors"] is not None:
        pgvector.keep(connection, added, entity, key, vectors["vectors"])


def forget(entity: str, condition: ColumnElement[bool]) -> int:
    """Remove the entries of ``entity`` that meet ``condition``; returns how many."""
    removed = _remove((SearchEntry.entity == entity) & condition)
    if removed:
        announce()
    return removed


def announce() -> None:
    """Let processes look again at what is there."""
    next_number(CHANGES)


def forget_one(entity: str, key: int) -> None:
    """Remove the entry of one record, if it has one."""
    forget(entity, SearchEntry.entity_id == key)


def _remove(condition: ColumnElement[bool]) -> int:
    return int(records.connection().execute(delete(SearchEntry).where(condition)).rowcount)
