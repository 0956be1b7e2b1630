"""Invoices: a picture of their first page, their mails, and sending with a look at the letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask import Response, request

from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import translated
from app.console.numbers import amount_text
from app.console.sets import page_of
from app.console.typed import typed_addresses, typed_text
from app.container.engine import ask, read_one
from app.documents.analysis import inspect
from app.errors import ApiError, NotFoundError
from app.extensions import db
from app.http.dispositions import content_disposition
from app.http.schema_fields import Boolean, Field, List
from app.http.security import requires
from app.invoices.downloads import check_e_invoice, data_of, pdf_of
from app.invoices.files import PDF
from app.invoices.letters import Letter
from app.invoices.public.links import PATH, show_link, withdraw_link
from app.invoices.schemas import SendSchema
from app.invoices.sending import (
    REMINDER,
    letter_to_change,
    list_deliveries,
    number_to_be,
    preview,
    resend,
    send_invoice,
)
from app.invoices.steps import readable
from app.jobs.scratch import scratch_folder

ADDRESS = f"{session.ROOT}/invoices"


@console.get("/invoices/<int:key>/pdf")
@requires("invoices:read")
def show_invoice_pdf(key: int) -> Response:
    """The PDF of an invoice, beside its page; with ``current`` as it stands now."""
    file = pdf_of(readable(key), current="current" in request.args)
    response = Response(file.content, content_type=PDF)
    response.headers["Content-Disposition"] = content_disposition("inline", file.name)
    return response


@console.get("/invoices/<int:key>/page")
@requires("invoices:send")
def show_clients_page(key: int) -> Response:
    """What the client sees behind the link in the mail, without being counted as the client."""
    address: str = show_link(key)["url"]
    return see_other(f"{PATH}{address.rpartition(PATH)[2]}?preview=1")


@console.post("/invoices/<int:key>/link")
@requires("invoices:send")
def withdraw_clients_page(key: int) -> Response:
    """End every link to that page which was given out."""
    withdraw_link(key)
    return see_other(f"{ADDRESS}/{key}", translated("The links that were sent open nothing now."))


@console.get("/invoices/<int:key>/einvoice")
@requires("invoices:read")
def show_e_invoice_problems(key: int) -> Response:
    """Which rules an e-invoice of the document would break."""
    _, problems = check_e_invoice(key)
    db.session.rollback()  # it was only looked at
    invoice = _named(key)
    name = page_of("invoices").name_of(invoice)
    return page("e_invoice.html", invoice=invoice, name=name, broken=problems)


@console.get("/invoices/<int:key>/picture")
@requires("invoices:read")
def show_invoice_picture(key: int) -> Response:
    """The first page of the PDF as a picture, drawn in a process of its own."""
    file = pdf_of(readable(key))
    response = Response(content_type="image/png")
    response.set_etag(f"{file.sha256}-picture")
    response.make_conditional(request)
    if response.status_code == 304:
        return response
    with scratch_folder("invoice-") as folder:
        path = Path(folder, "file")
        path.write_bytes(file.content)
        picture = inspect(path, PDF).picture
    if picture is None:
        raise NotFoundError(translated("There is no picture of this document."))
    response.set_data(picture)
    return response


@console.get("/invoices/<int:key>/einvoice/<form>")
@requires("invoices:read")
def download_e_invoice(key: int, form: str) -> Response:
    """The invoice as data: ``ubl``, ``cii`` or, inside of a PDF, ``facturx``."""
    if form not in ("ubl", "cii", "facturx"):
        raise NotFoundError(translated("There is no such form."))
    file = data_of(readable(key), form)
    response = Response(file.content, content_type=file.media_type)
    response.headers["Content-Disposition"] = content_disposition("attachment", file.name)
    return response


@console.get("/invoices/<int:key>/send")
@requires("invoices:send")
def show_letter(key: int, problem: ApiError | None = None) -> Response:
    if problem is not None:
        db.session.rollback()  # the number that it would have had is free again
    invoice = _named(key)
    number, kind = number_to_be(key), _kind()
    subject, message = letter_to_change(key, number, kind)
    typed: Mapping[str, str] = request.form if request.method == "POST" else {}
    if typed:
        # The letter names the number that it was written for; another may have taken it.
        expected = typed.get("number") or ""
        subject, message = (
            typed.get(name, "").replace(expected, number)
            if expected and number
            else typed.get(name, "")
            for name in ("subject", "message")
        )
    letter = replace(
        _typed() if typed else Letter(kind=kind), number=number, subject=subject, message=message
    )
    letter_preview: dict[str, Any] | None = None
    try:
        letter_preview = preview(key, letter)
    except NotFoundError:
        raise
    except ApiError as error:
        problem = problem or error
    db.session.rollback()  # nothing was written, and the lock is to be held no longer
    return page(
        "send.html",
        200 if problem is None or request.method == "GET" else problem.status,
        invoice=invoice,
        name=page_of("invoices").name_of(invoice),
        letter=letter,
        shown=letter_preview,
        to=typed.get("to", ", ".join(letter_preview["to"]) if letter_preview else ""),
        cc=typed.get("cc", ""),
        subject=subject,
        message=message,
        number=number,
        problem=problem,
    )


@console.post("/invoices/<int:key>/send")
@requires("invoices:send")
@refused_on(show_letter)
def send_letter(key: int) -> Response:
    """Send the letter, or only look at it as it was changed."""
    if request.form.get("step") == "preview":
        return show_letter(key)
    return see_other(f"{ADDRESS}/{key}", _sent_message(send_invoice(key, _typed())))


@console.get("/invoices/<int:key>/mails")
@requires("invoices:read")
def show_invoice_mails(key: int, problem: ApiError | None = None, **_sent: int) -> Response:
    mails = list_deliveries(key, **page_asked())
    return page(
        "invoice_mails.html",
        invoice=(invoice := _named(key)),
        name=page_of("invoices").name_of(invoice),
        mails=mails["items"],
        links=page_links(mails["total"]),
        problem=problem,
    )


@console.post("/invoices/<int:key>/mails/<int:mail_id>")
@requires("invoices:send")
@refused_on(show_invoice_mails)
def resend_invoice_mail(key: int, mail_id: int) -> Response:
    resend(key, mail_id)
    return see_other(f"{ADDRESS}/{key}/mails", translated("The mail is sent again."))


@console.post("/invoices/<int:key>/payments/<int:payment_id>/reverse")
@requires("payments:reverse")
def reverse_invoice_payment(key: int, payment_id: int) -> Response:
    reason = request.form.get("reason", "").strip() or None
    path = f"Invoices({key})/Payments({payment_id})/BusinessPlatform.Reverse"
    payment = ask("POST", path, body={"reason": reason}).body
    amount = amount_text(payment["amount"], payment["currency"])
    message = translated("Payment taken back: %(amount)s.", amount=amount)
    return see_other(f"{ADDRESS}/{key}", message)


def _sent_message(sent: Mapping[str, Any]) -> str:
    """What was done: the number, and to whom it goes."""
    issued = translated("Issued as %(number)s. ", number=sent["number"]) if sent["issued"] else ""
    if sent["delivery"] is None:
        return translated(
            "%(issued)s%(number)s counts as sent.", issued=issued, number=sent["number"]
        )
    return translated(
        "%(issued)s%(number)s goes to %(to)s.",
        issued=issued,
        number=sent["number"],
        to=", ".join(sent["delivery"]["to"]),
    )


def _typed() -> Letter:
    """The form by the fields that sending declares; what is empty is made up."""
    options = {name: _typed_option(field) for name, field in SendSchema().fields.items()}
    return Letter(**options, number=request.form.get("number") or None, kind=_kind())


def _typed_option(field: Field) -> Any:
    """What was typed into a field, or None; a check box that was left is no."""
    name = field.data_key or ""
    if isinstance(field, Boolean):
        return name in request.form
    return typed_addresses(name) if isinstance(field, List) else typed_text(name) or None


def _kind() -> str | None:
    """The kind of letter that is asked for: a reminder, or that of the document."""
    return REMINDER if request.values.get("letter") == REMINDER else None


def _named(key: int) -> dict[str, Any]:
    return read_one(f"Invoices({key})", select="id,number,status,type")
