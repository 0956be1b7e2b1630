"""Articles and solved tickets into the search: done by the worker, never by a request.

What is to be done stands in the rows themselves: a published article without ``indexed_at`` (every
change of its text takes that away, in the same transaction), a solved ticket whose entry is of
another version. So nothing is forgotten by a crash, and an import needs no more than its rows.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select, update

from app.clock import utc_now
from app.db import records
from app.db.engines import primary_engine, transaction
from app.extensions import Extension, db
from app.jobs.leases import is_stopping, leave_if_stopping
from app.kb.rendering import to_text
from app.models.kb_article import KbArticle
from app.models.search import SearchEntry
from app.models.ticket import Ticket
from app.search import pgvector
from app.search.analysis import language_of
from app.search.embedding import MODEL, find_model, is_installed
from app.search.entries import EntryColumns, announce, forget, make_entries, make_entry, store

ARTICLE, TICKET = "KbArticle", "Ticket"
# Of one portion: articles, and about how many characters of them; a second or two of one core.
PORTION, MOST_CHARACTERS = 16, 40_000
# Out of so many that wait: two workers that choose at random choose the same one seldom.
CHOICE = 512
# Threads of a worker: a model takes one core each, and a bulk import should be found soon.
THREADS = 2
# What a ticket is about stands in its subject and its first words.
TICKET_WORDS = 60
SOLVED = ("Solved", "Closed")

_choosing = threading.Lock()
_PENDING = and_(KbArticle.status == "Published", KbArticle.indexed_at.is_(None))


def index_articles() -> int:
    """Take in a few published articles that are not yet; returns how many."""
    model, done = find_model(), 0
    with _batches() as articles:
        if not articles:
            return 0
        texts = [_text_of(article) for article in articles]
        entries = make_entries(texts, model, before_each=leave_if_stopping)
        with transaction():
            for article, (_, _, language), entry in zip(articles, texts, entries, strict=True):
                done += _take_in(article, language, entry)
    return done


_articles_in_hand: Extension[set[int]] = Extension("articles_in_hand", set)


@contextmanager
def _batches() -> Iterator[list[Mapping[str, Any]]]:
    """Articles that wait and that no other thread of this process works on, at random.

    Another worker has most likely chosen others.
    """
    in_hand = _articles_in_hand.current
    with _choosing:
        with primary_engine().connect() as reading:
            waiting = select(KbArticle.id, func.length(KbArticle.body)).where(_PENDING)
            rows = reading.execute(waiting.limit(CHOICE + len(in_hand))).all()
            keys, characters = list[int](), 0
            for key, length in random.sample(rows, len(rows)):
                if key in in_hand:
                    continue
                keys.append(key)
                characters += length or 0
                if len(keys) == PORTION or characters > MOST_CHARACTERS:
                    break
            wanted = select(KbArticle.__table__).where(KbArticle.id.in_(keys))
            articles = reading.execute(wanted).mappings().all() if keys else []
        in_hand.update(keys)
    try:
        yield [dict(article) for article in articles]
    finally:
        in_hand.difference_update(keys)


def index_tickets() -> int:
    """Take in a few solved tickets, and forget those that are open again; returns how many."""
    with primary_engine().connect() as reading:
        tickets = reading.execute(_new_tickets()).mappings().all()
        is_stale = reading.execute(select(exists().where(_no_ticket()))).scalar()
    if is_stale:
        with transaction():
            forget(TICKET, _no_ticket())
    model = find_model() if tickets else None
    for ticket in tickets:
        if is_stopping():
            break
        words = (ticket["description"] or "").split()[:TICKET_WORDS]
        language = language_of(ticket["language"])
        entry = make_entry(ticket["subject"], " ".join(words), language, model)
        with transaction():
            store(
                TICKET, ticket["id"], entry,
                revision=ticket["version"], language=language, category=ticket["category"],
            )  # fmt: skip
    return len(tickets)


def tidy_index() -> int:
    """Bring entries and articles together again, after an import, a restored backup or a new model.

    Where PostgreSQL has the extension for vectors, they are brought into its table too.
    Returns: how many entries were removed, copied, or are to be made anew.
    """
    copied = 0
    if pgvector.prepare(db.engine):
        while portion := pgvector.take_in(db.engine):
            copied += portion
    if copied:
        with transaction():
            announce()
    lost = ~exists().where(KbArticle.id == SearchEntry.entity_id, KbArticle.status == "Published")
    entry = and_(SearchEntry.entity == ARTICLE, SearchEntry.entity_id == KbArticle.id)
    if is_installed():
        entry = and_(entry, SearchEntry.model == MODEL)
    unknown = and_(
        KbArticle.status == "Published",
        KbArticle.indexed_at.is_not(None),
        ~exists().where(entry),
    )
    old_tickets = and_(SearchEntry.entity == TICKET, SearchEntry.model.is_(None))
    with primary_engine().connect() as reading:
        is_needed = reading.execute(
            select(
                exists().where(SearchEntry.entity == ARTICLE, lost)
                | exists().where(unknown)
                | (exists().where(old_tickets) if is_installed() else False)
            )
        ).scalar()
    if not is_needed:
        return copied
    with transaction():
        done = copied + forget(ARTICLE, lost)
        if is_installed():
            done += forget(TICKET, SearchEntry.model.is_(None))
        return done + _mark(unknown)


def mark_all() -> int:
    """Have every published article and solved ticket taken in anew; returns how many there are.

    Entries stay until their new ones are there, so that the search goes on meanwhile.
    """
    with transaction():
        articles = _mark(KbArticle.status == "Published")
        connection = records.connection()
        # No version of a ticket is 0: its entry counts as old.
        connection.execute(
            update(SearchEntry).where(SearchEntry.entity == TICKET).values(revision=0)
        )
        solved = select(func.count()).where(Ticket.status.in_(SOLVED))
        return articles + int(connection.execute(solved).scalar_one())


def count_indexed() -> int:
    """How many texts the search knows."""
    with primary_engine().connect() as reading:
        return int(reading.execute(select(func.count()).select_from(SearchEntry)).scalar_one())


def _text_of(article: Mapping[str, Any]) -> tuple[str, str, str]:
    """Title, text and language of an article."""
    text = to_text(article["body"], article["body_format"])
    if article["summary"]:
        text = f"{article['summary']}\n{text}"
    return article["title"], text, language_of(article["language"])


def _take_in(article: Mapping[str, Any], language: str, columns: EntryColumns) -> bool:
    # The row as it was read, or nothing: whoever changed it meanwhile has marked it again.
    # No new version: what the search knows is no change of the article.
    marked = records.connection().execute(
        update(KbArticle)
        .where(_PENDING, KbArticle.id == article["id"])
        .where(KbArticle.version == article["version"])
        .values(indexed_at=utc_now())
    )
    if marked.rowcount:
        store(
            ARTICLE, article["id"], columns,
            revision=article["revision"], language=language, category=article["category"],
        )  # fmt: skip
    return bool(marked.rowcount)


def _mark(condition: ColumnElement[bool]) -> int:
    connection = records.connection()
    marked = connection.execute(update(KbArticle).where(condition).values(indexed_at=None))
    return int(marked.rowcount)


def _new_tickets() -> Select[Any]:
    entry = and_(SearchEntry.entity == TICKET, SearchEntry.entity_id == Ticket.id)
    return (
        select(Ticket.__table__)
        .outerjoin(SearchEntry, entry)
        .where(Ticket.status.in_(SOLVED))
        .where(or_(SearchEntry.id.is_(None), SearchEntry.revision != Ticket.version))
        .limit(PORTION * 4)
    )


def _no_ticket() -> ColumnElement[bool]:
    """The condition of entries whose ticket is gone, or open again."""
    solved = exists().where(Ticket.id == SearchEntry.entity_id, Ticket.status.in_(SOLVED))
    return and_(SearchEntry.entity == TICKET, ~solved)
