"""What a client is written about a document: subject, text and HTML, in the client's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import current_app

from app.invoices.document import InvoiceDocument
from app.invoices.plain_text import clean, one_line
from app.invoices.texts import Texts, language_of, texts_for
from app.invoices.wording import Formats
from app.settings import Organisation
from app.settings.days import today
from app.settings.templates import fill

_NOTHING = "\u2013"
LONGEST_SUBJECT = 500
LINK_PLACE = "{link}"


@dataclass(frozen=True, kw_only=True)
class Letter:
    """How a document is sent; ``to``, ``subject`` and ``message`` are made up when left out.

    ``mark_only`` issues the document and counts it as sent without a mail. ``kind`` is that of the
    template; ``key`` makes the mail known when the same request comes again. ``number`` is the one
    that a draft is expected to get, where the letter names it.
    """

    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    subject: str | None = None
    message: str | None = None
    attach_pdf: bool = True
    attach_e_invoice: bool = False
    mark_only: bool = False
    kind: str | None = None
    key: str | None = None
    number: str | None = None


@dataclass(frozen=True)
class Written:
    """A letter as it is sent."""

    subject: str
    text: str
    html: str


def write_letter(
    document: InvoiceDocument,
    settings: Organisation,
    *,
    kind: str | None = None,
    subject: str | None = None,
    message: str | None = None,
    link: str | None = None,
    with_link: bool = True,
) -> Written:
    """The letter that goes with a document.

    Args:
        kind: of the templates: ``invoice``, ``creditNote``, ``notice`` (soon due) or ``reminder``;
            that of the document when left out.
        subject, message: instead of those of the template; places in braces are filled there too.
        link: the address of the document's page; where the message has no place for it, it
            follows, ``with_link``.
    """
    kind = kind or ("creditNote" if document.is_credit_note else "invoice")
    values = {**_values(document), "link": link or ""}
    template = _template(settings.mail.templates, kind, document.language)
    filled = fill(subject or template["subject"], values)
    pattern = message or template["message"]
    text = clean(fill(pattern, values))
    html = _html(document, text, link)
    if link and with_link and LINK_PLACE not in pattern:
        text = f"{text}\n\n{texts_for(document.language)('page.view_online')}: {link}"
    return Written(one_line(filled)[:LONGEST_SUBJECT], text, html)


def _template(
    templates: Mapping[str, Mapping[str, Mapping[str, str]]], kind: str, tag: str
) -> dict[str, str]:
    """The organisation's own template of the language, part by part, or the product's."""
    words = texts_for(tag)
    parts = {name: words(f"mail.{kind}_{name}") for name in ("subject", "message")}
    own = templates.get(kind, {})
    for language in (language_of(tag), tag.partition("-")[0], tag):
        parts.update(own.get(language, {}))
    return parts


def _values(document: InvoiceDocument) -> dict[str, str]:
    """What the places stand for."""
    formats = Formats(document)
    due, issued = document.due_date, document.issue_date
    client = one_line(document.buyer.registered_name)
    late = (today() - due).days if due else 0
    return {
        "number": one_line(document.number) or texts_for(document.language)("marks.draft"),
        "client": client,
        "contact": one_line(document.buyer.contact_name) or client,
        "seller": one_line(document.seller.registered_name),
        "total": formats.money(document.total),
        "amountDue": formats.money(document.amount_due),
        "issueDate": formats.day(issued) if issued else _NOTHING,
        "dueDate": formats.day(due) if due else _NOTHING,
        "daysOverdue": str(max(late, 0)),
    }


def _html(document: InvoiceDocument, text: str, link: str | None) -> str:
    """The same letter as a page without pictures: nothing is fetched to show it."""
    words, values = texts_for(document.language), _values(document)
    return current_app.jinja_env.get_template("letter.html").render(
        language=document.language, title=values["number"], seller=values["seller"],
        paragraphs=text.split("\n\n"), facts=_facts(document, words, values), link=link,
        label=words("page.view_online"),
    )  # fmt: skip


def _facts(
    document: InvoiceDocument, words: Texts, values: Mapping[str, Any]
) -> list[tuple[str, str]]:
    if document.is_credit_note:
        return [
            (words("labels.credit_note_number"), values["number"]),
            (words("labels.date"), values["issueDate"]),
            (words("totals.total_credit"), values["total"]),
        ]
    facts = [
        (words("labels.number"), values["number"]),
        (words("labels.date"), values["issueDate"]),
        (words("totals.total"), values["total"]),
    ]
    if document.amount_due:
        facts += [
            (words("totals.amount_due"), values["amountDue"]),
            (words("labels.due_date"), values["dueDate"]),
        ]
    return facts
