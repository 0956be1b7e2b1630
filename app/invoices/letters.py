"""What a client is written about a document: subject, text and HTML, in the client's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from app.invoices.document import InvoiceDocument
from app.invoices.formats import Formats
from app.invoices.plain_text import clean, one_line
from app.invoices.texts import Texts, language_of, texts_for
from app.settings import Organisation
from app.settings.days import today
from app.settings.templates import fill

_NOTHING = "\u2013"
LONGEST_SUBJECT = 500
LINK_PLACE = "{link}"


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
    client = one_line(document.buyer.legal_name or document.buyer.name)
    late = (today() - due).days if due else 0
    return {
        "number": one_line(document.number) or texts_for(document.language)("marks.draft"),
        "client": client,
        "contact": one_line(document.buyer.contact_name) or client,
        "seller": one_line(document.seller.legal_name or document.seller.name),
        "total": formats.money(document.total),
        "amountDue": formats.money(document.amount_due),
        "issueDate": formats.day(issued) if issued else _NOTHING,
        "dueDate": formats.day(due) if due else _NOTHING,
        "daysOverdue": str(max(late, 0)),
    }


_PAGE = """\
<!DOCTYPE html>
<html lang="{language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title></head>
<body style="margin:0;padding:24px 12px;background:#f3f4f6;color:#1f2937;\
font-family:Helvetica,Arial,sans-serif;font-size:15px;line-height:1.5">
<div style="max-width:560px;margin:0 auto;background:#ffffff;border-radius:8px;padding:28px">
<p style="margin:0 0 20px;font-size:18px;font-weight:bold">{seller}</p>
{paragraphs}
<table role="presentation" style="width:100%;margin-top:24px;border-collapse:collapse;\
border-top:1px solid #e5e7eb">
{facts}
</table>
{button}</div>
</body>
</html>
"""
_FACT = (
    '<tr><td style="padding:8px 0 0;color:#6b7280">{label}</td>'
    '<td style="padding:8px 0 0;text-align:right">{value}</td></tr>'
)
_BUTTON = (
    '<p style="margin:24px 0 0"><a href="{link}" style="display:inline-block;padding:10px 18px;'
    'border-radius:6px;background:#1f5fbf;color:#ffffff;text-decoration:none">{label}</a></p>\n'
)


def _html(document: InvoiceDocument, text: str, link: str | None) -> str:
    """The same letter as a page without pictures: nothing is fetched to show it."""
    words, values = texts_for(document.language), _values(document)
    paragraphs = "\n".join(
        f'<p style="margin:0 0 14px">{"<br>".join(escape(part).split(chr(10)))}</p>'
        for part in text.split("\n\n")
    )
    facts = "\n".join(
        _FACT.format(label=escape(label), value=escape(value))
        for label, value in _facts(document, words, values)
    )
    label = words("page.view_online")
    return _PAGE.format(
        language=escape(document.language), title=escape(values["number"]),
        seller=escape(values["seller"]), paragraphs=paragraphs, facts=facts,
        button=_BUTTON.format(link=escape(link), label=escape(label)) if link else "",
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
