"""The files of the demonstration's documents: small ones, made of what the document is about."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import date
from io import BytesIO, StringIO
from typing import Any

from babel.dates import format_date
from sqlalchemy import select, update

from app.clock import local_day
from app.db import records
from app.demo.vocabulary import CLAUSES, COMPANY, GOODS
from app.documents.files import discarded_on_error, store_file
from app.documents.service import DOCUMENTS
from app.http.body_stream import maximum_upload
from app.importing.progress import Report
from app.invoices.pdf import style
from app.invoices.pdf.archive import Metadata
from app.invoices.pdf.drawing import Page
from app.invoices.pdf.shaping import Shaper
from app.invoices.pdf.typeset import Typesetter
from app.invoices.pdf.writer import write_pdf
from app.models.client import Client
from app.models.document import Document, DocumentVersion
from app.settings.days import zone

SELLER: str = COMPANY["seller"].legalName


def add_files(report: Report | None = None) -> int:
    """Give every document that waits for its file one, as old as the document.

    Returns: how many, in this transaction.
    """
    waiting = (
        select(Document.id, Document.name, Document.created_at, Client.name)
        .join(Client, Client.id == Document.client_id)
        .where(Document.status == "Pending")
        .order_by(Document.id)
    )
    documents = records.connection().execute(waiting).all()
    for done, (key, name, created_at, client) in enumerate(documents, 1):
        file = store_file(
            [content_of(name, client, local_day(created_at, zone()))], name, maximum_upload()
        )
        with discarded_on_error(file):
            DOCUMENTS.add_file(key, file)
        records.update(Document, key, {"updated_at": created_at})
        versions = update(DocumentVersion).where(DocumentVersion.document_id == key)
        records.connection().execute(versions.values(created_at=created_at))
        if report is not None:
            report("Writing files", done, len(documents))
    return len(documents)


def content_of(name: str, client: str, day: date) -> bytes:
    """The bytes of a file by the end of its name: pdf, xlsx or csv."""
    extension = name.rpartition(".")[2]
    if extension == "pdf":
        return _pdf(name.removesuffix(".pdf"), client, day)
    rows = [("Item", "Price in EUR"), *((label, str(price)) for label, price in _prices())]
    return _workbook(rows) if extension == "xlsx" else _csv(rows)


def _pdf(title: str, client: str, day: date) -> bytes:
    """A letter of one page: whom it is for, when, and what it says."""
    clauses = next(texts for kind, texts in CLAUSES.items() if title.startswith(kind))
    page, typesetter = Page(), Typesetter(Shaper())
    typesetter.put(page, style.LEFT, style.LOGO_TOP, SELLER, style.SELLER)
    typesetter.put(page, style.LEFT, style.ADDRESS_TOP, client, style.ADDRESS_STRONG)
    when = format_date(day, "long", "en")
    typesetter.put(page, style.RIGHT, style.ADDRESS_TOP, when, style.ADDRESS, "right")
    end = typesetter.paragraph(page, style.LEFT, style.BODY_TOP, title, style.TITLE, style.WIDTH)
    for heading, text in vars(clauses).items():
        end += style.TITLE.leading / 2
        typesetter.put(page, style.LEFT, end, heading, style.HEADING)
        end += style.HEADING.leading
        end = typesetter.paragraph(page, style.LEFT, end, text, style.ADDRESS, style.WIDTH)
    about = Metadata(title=title, author=SELLER, subject=title, language="en", day=day)
    return write_pdf([page], about)


def _workbook(rows: Sequence[tuple[str, str]]) -> bytes:
    content = BytesIO()
    import xlsxwriter  # type: ignore[import-untyped]  # heavy: only the demonstration needs it

    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Prices")
        for row_number, row in enumerate(rows):
            sheet.write_row(row_number, 0, row)
        sheet.set_column(0, 0, 40)
    return content.getvalue()


def _csv(rows: Sequence[tuple[str, str]]) -> bytes:
    content = StringIO()
    csv.writer(content).writerows(rows)
    return content.getvalue().encode()


def _prices() -> Sequence[tuple[str, Any]]:
    return [(good.description, good.price) for good in GOODS]
