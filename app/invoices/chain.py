"""The chain of issued documents: each link holds the hash of the one before.

Whoever changes an issued document, its file, its place or a link breaks the chain from there on;
``flask invoices verify`` says where. A link is added in the issuing transaction; a counter row is
its lock, so links follow one another as their transactions end. A link says with which date the
document was issued on which day, and behind which date of its series (docs/adr/0030).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import bindparam, exists, select

from app.blobs import blobs
from app.clock import utc_now
from app.db import records
from app.db.types import iso_instant
from app.errors import ServiceUnavailableError
from app.models.invoice import Invoice, IssueRecord, LineItem
from app.writing.numbering import next_number

FIRST_HASH = "0" * 64
_LOCK = "issue-chain"

# What issue freezes; the buyer's copy, not its key, because clients are merged. Lines are frozen
# whole but for their key and the task or product they came from.
FROZEN = (
    "type", "issue_date", "due_date", "service_date", "currency", "reference",
    "purchase_order", "buyer_reference", "prices_include_tax", "discount_percent", "notes",
    "terms", "series", "credited_invoice_id", "e_invoice_format", "number", "subtotal",
    "discount_total", "tax_total", "total", "tax_breakdown", "exchange_rate", "base_total",
    "seller", "buyer",
)  # fmt: skip
# What the hash of a link is over, by the form of the link.
_FIRST_FORM = (
    "created_at", "invoice_id", "number", "total", "currency", "pdf_sha256", "content_sha256",
    "previous_hash",
)  # fmt: skip
_FORMS = {
    None: _FIRST_FORM,
    2: (*_FIRST_FORM, "form", "issue_date", "issued_on", "backdated_from"),
}
_NOT_PRINTED = ("id", "created_at", "invoice_id", "task_id", "product_id")
_LAST = select(IssueRecord.hash).order_by(IssueRecord.id.desc()).limit(1)
_LINES_OF = (
    select(LineItem.__table__)
    .where(LineItem.invoice_id == bindparam("invoice_id"))
    .order_by(LineItem.position, LineItem.id)
)


def lock_chain() -> None:
    """Let no other document be issued until this transaction ends."""
    next_number(_LOCK)


def add_link(
    invoice_id: int, *, issued_on: date | None = None, backdated_from: date | None = None
) -> None:
    """Add the document, as it stands in this transaction; the chain is locked before.

    Args:
        issued_on: the organisation's day; None for a document that was moved in.
        backdated_from: the date of the last document of its series, where it is after the
            document's own.
    """
    invoice = records.get(Invoice, invoice_id)
    previous = records.connection().execute(_LAST).scalar_one_or_none()
    link = {
        "created_at": utc_now(),
        "invoice_id": invoice_id,
        "number": invoice.number,
        "total": invoice.total,
        "currency": invoice.currency,
        "pdf_sha256": invoice.pdf_sha256,
        "content_sha256": content_hash(invoice),
        "previous_hash": previous or FIRST_HASH,
        "form": 2,
        "issue_date": invoice.issue_date,
        "issued_on": issued_on,
        "backdated_from": backdated_from,
    }
    records.insert(IssueRecord, {**link, "hash": hash_of(link)})


def hash_of(link: Mapping[str, Any]) -> str:
    """SHA-256 over everything that a link holds, the hash of the one before among it.

    Raises: KeyError, there is no such form of a link.
    """
    return _digest({name: link[name] for name in _FORMS[link["form"]]})


def content_hash(invoice: Invoice) -> str:
    """SHA-256 over what issue froze of a document: its row and its lines."""
    lines = records.connection().execute(_LINES_OF, {"invoice_id": invoice.id}).mappings()
    return _digest(
        {
            **{name: getattr(invoice, name) for name in FROZEN},
            "lines": [
                {name: value for name, value in line.items() if name not in _NOT_PRINTED}
                for line in lines
            ],
        }
    )


def key_of(sha256: str) -> str:
    """Where the file of a document lies: by its content, so that it can be written twice."""
    return f"invoices/{sha256[:2]}/{sha256}"


def _digest(value: Any) -> str:
    text = orjson.dumps(_plain(value), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    """Values in the one spelling that both databases give."""
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, bool | None):
        return value
    if isinstance(value, Decimal | int | float):
        return _number(value)
    if isinstance(value, date) and not hasattr(value, "hour"):
        return value.isoformat()
    return iso_instant(value) if hasattr(value, "hour") else str(value)


def _number(value: Decimal | int | float) -> str:
    """``19`` for 19, 19.0 and 19.00."""
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    text = format(exact, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


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
