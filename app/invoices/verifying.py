"""Checking the chain of issued documents, link by link."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import exists, select

from app.blobs import blobs
from app.db import records
from app.errors import ServiceUnavailableError
from app.invoices.chain import FIRST_HASH, content_hash, hash_of
from app.invoices.freezing import key_of
from app.models.invoice import Invoice, IssueRecord

BATCH = 500


@dataclass(frozen=True)
class Verified:
    """What was found: how many links hold, the last hash, and the first that is broken.

    ``backdated`` are the documents that were issued behind a later one of their series.
    """

    links: int
    last_hash: str
    broken: str | None = None
    backdated: tuple[str, ...] = ()


def verify_chain(*, files: bool = True, expected: str | None = None) -> Verified:
    """Check every link against the one before, its document and its stored file.

    Args:
        files: read the stored files, too.
        expected: a hash that must be one of the chain's, because it was once its last.
    """
    last, count = FIRST_HASH, 0
    latest: dict[str, date] = {}  # by series
    backdated: list[str] = []
    is_known = expected in (None, FIRST_HASH)
    for link in _links():
        problem = _problem(link, last, latest, files)
        if problem is not None:
            return Verified(count, last, f"{link['number']} (link {link['id']}): {problem}")
        if link["backdated_from"] is not None:
            backdated.append(_backdating(link))
        last, count = link["hash"], count + 1
        is_known = is_known or last == expected
    if not is_known:
        return Verified(count, last, f"the hash {expected} is not in the chain")
    return Verified(count, last, _unchained_document(), tuple(backdated))


def _links() -> Iterator[Any]:
    """All links, oldest first, some at a time."""
    last = 0
    while True:
        statement = (
            select(IssueRecord.__table__)
            .where(IssueRecord.id > last)
            .order_by(IssueRecord.id)
            .limit(BATCH)
        )
        links = records.connection().execute(statement).mappings().all()
        yield from links
        if len(links) < BATCH:
            return
        last = links[-1]["id"]


def _problem(
    link: Mapping[str, Any], previous: str, latest: dict[str, date], files: bool
) -> str | None:
    if link["previous_hash"] != previous:
        return "does not follow the link before: one was removed, added or moved"
    try:
        if link["hash"] != hash_of(link):
            return "the link was changed"
    except KeyError:
        return f"the link has the form {link['form']}, which this version does not know"
    invoice = records.read(Invoice, link["invoice_id"])
    if invoice is None:
        return "the document is gone"
    for name in ("number", "total", "currency", "pdf_sha256"):
        if (stored := getattr(invoice, name)) != link[name]:
            return f"the document has another {name}: {stored} instead of {link[name]}"
    if content_hash(invoice) != link["content_sha256"]:
        return "the content of the document was changed after issue"
    if problem := _problem_of_date(link, invoice, latest):
        return problem
    return _problem_of_file(link["pdf_sha256"]) if files else None


def _problem_of_date(
    link: Mapping[str, Any], invoice: Invoice, latest: dict[str, date]
) -> str | None:
    """Whether the link says what date the document bears, and behind which others.

    Args:
        latest: the last date of every series up to here; that of the document is added.
    """
    issue_date, series = invoice.issue_date, invoice.series
    if issue_date is None:
        return "the document has no issue_date"
    before = latest.get(series)
    latest[series] = issue_date if before is None else max(before, issue_date)
    if link["form"] is None:  # only the content says with which date
        return None
    if link["issue_date"] != issue_date:
        return f"the document has another issue_date: {issue_date} instead of {link['issue_date']}"
    claimed_date = link["backdated_from"] or issue_date
    if (
        link["issued_on"] is not None
        and before is not None
        and max(issue_date, claimed_date) < before
    ):
        return f"is dated {issue_date}, before {before} in series {series}, and the link hides it"
    return None


def _backdating(link: Mapping[str, Any]) -> str:
    return (
        f"{link['number']} was issued on {link['issued_on']} with the date {link['issue_date']},"
        f" behind {link['backdated_from']}"
    )


def _problem_of_file(sha256: str) -> str | None:
    digest = hashlib.sha256()
    try:
        for piece in blobs.current.stream(key_of(sha256)):
            digest.update(piece)
    except ServiceUnavailableError:
        return "the PDF cannot be read from the store"
    return None if digest.hexdigest() == sha256 else "the PDF was changed after issue"


def _unchained_document() -> str | None:
    """A document that was issued here and has no link: the end of the chain was cut off."""
    statement = (
        select(Invoice.number)
        .where(Invoice.pdf_sha256.is_not(None))
        .where(~exists().where(IssueRecord.invoice_id == Invoice.id))
        .order_by(Invoice.id)
        .limit(1)
    )
    number = records.connection().execute(statement).scalar_one_or_none()
    return None if number is None else f"{number}: issued, but not in the chain"
