"""Invoices and leads in the console: looked at before they are sent or converted."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.console.steps import OFFERED, steps_of
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.invoices.schemas import SendSchema
from app.mail.recipients import with_outcome
from app.models.client import Client
from app.models.event import OutgoingMail
from app.models.invoice import Invoice, LineItem
from app.settings import save_settings
from tests.console.conftest import Browser, SignIn
from tests.contract.test_rest_einvoice import SELLER
from tests.factories import line, make_client, make_invoice, put_row


@pytest.fixture
def browser(sign_in: SignIn) -> Browser:
    return sign_in("Admin")


@pytest.fixture
def invoice(browser: Browser, app: Flask) -> str:
    """The page of a draft."""
    client = browser.make("clients", name="Acme", email="office@acme.example")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key = make_invoice(client_id=client, line_items=[line("100", tax_rate=Decimal(0))])
    return f"invoices/{key}"


def test_looking_at_the_letter_issues_and_sends_nothing(
    browser: Browser, invoice: str, session: Session
) -> None:
    page = browser.get(f"{invoice}/send")
    assert page.status_code == 200
    assert "This is a draft" in page.text and 'value="office@acme.example"' in page.text
    looked = browser.submit(
        f"{invoice}/send", step="preview", to="a@example.com", subject="Bill for {client}"
    )
    assert "Bill for Acme" in looked.text and "Nothing is attached." in looked.text
    assert session.scalar(select(Invoice.status)) == "Draft"
    assert session.scalar(select(func.count()).select_from(OutgoingMail)) == 0


def test_the_form_has_every_option_that_sending_declares(browser: Browser, invoice: str) -> None:
    declared = {field.data_key for field in SendSchema().fields.values()}
    shown = re.findall(r'name="(\w+)"', browser.get(f"{invoice}/send").text)
    assert declared <= set(shown) and len(declared) > 5


def test_a_letter_is_sent_and_listed(browser: Browser, invoice: str, session: Session) -> None:
    wrong = browser.submit(f"{invoice}/send", to="nobody", attachPdf="on")
    assert wrong.status_code == 400 and 'id="f-to-p"' in wrong.text
    sent = browser.submit(f"{invoice}/send", to="a@example.com", subject="Bill", attachPdf="on")
    assert sent.status_code == 303
    mails = browser.get(f"{invoice}/mails").text
    assert "Bill" in mails and "a@example.com" in mails
    mail = session.scalar(select(OutgoingMail.id))
    assert browser.submit(f"{invoice}/mails/{mail}").status_code == 409
    assert "Bill" in browser.get("mail").text
    shown = browser.get(f"mail/{mail}")
    assert shown.status_code == 200 and "a@example.com" in shown.text


def test_a_failed_mail_is_tried_again(
    browser: Browser, invoice: str, app: Flask, session: Session
) -> None:
    browser.submit(f"{invoice}/send", to="a@example.com", subject="Bill")
    with app.app_context(), transaction() as writing:
        outcomes = with_outcome({}, ["a@example.com"], "failed", "away")
        failed = {"status": "failed", "error": "away", "outcomes": outcomes}
        writing.execute(update(OutgoingMail).values(failed))
    mail = session.scalar(select(OutgoingMail.id))
    assert "Failed 1" in browser.get("mail?status=failed").text
    assert browser.submit(f"mail/{mail}").status_code == 303
    session.rollback()
    assert session.scalar(select(OutgoingMail.status)) == "queued"
    assert browser.get("mail/12345").status_code == 404
    with app.app_context(), transaction() as writing:
        later = utc_now() + timedelta(hours=1)
        writing.execute(update(OutgoingMail).values(next_attempt_at=later))
    assert browser.submit(f"mail/{mail}").status_code == 303  # now, not in an hour
    session.rollback()
    assert session.scalar(select(OutgoingMail.next_attempt_at)) < later
    with app.app_context(), transaction() as writing:
        outcomes = with_outcome({}, ["a@example.com"], "sent")
        writing.execute(update(OutgoingMail).values(status="sent", outcomes=outcomes))
    again = browser.submit(f"mail/{mail}")
    assert again.status_code == 409 and "did not reach everybody" in again.text


def test_an_invoice_has_a_picture_and_files(browser: Browser, invoice: str) -> None:
    assert f"/admin/{invoice}/picture" in browser.get(invoice).text
    picture = browser.get(f"{invoice}/picture")
    assert picture.data.startswith(b"\x89PNG")
    assert browser.get(f"{invoice}/pdf").data.startswith(b"%PDF-")
    assert browser.get(f"{invoice}/einvoice/ubl").status_code == 409
    assert browser.get(f"{invoice}/einvoice/other").status_code == 404


def test_a_picture_that_is_known_is_not_sent_again(browser: Browser, invoice: str) -> None:
    first = browser.get(f"{invoice}/picture")
    known = {"If-None-Match": first.headers["ETag"]}
    again = browser.client.get(f"/admin/{invoice}/picture", headers=known)
    assert (again.status_code, again.data) == (304, b"")


def test_an_invoice_is_downloaded_as_data(browser: Browser, invoice: str, app: Flask) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        save_settings("seller", SELLER)
        save_settings("bank", {"iban": "DE02120300000000202051"})
        client = make_client(name="Dupont", billing_city="Paris", billing_country="FR")
        key = make_invoice(client_id=client, line_items=[line("100")])
    browser.submit(f"invoices/{key}", step="status:Sent")
    found = browser.get(f"invoices/{key}/einvoice/cii")
    assert found.status_code == 200, found.text
    assert found.data.startswith(b"<?xml") and b"Dupont" in found.data
    assert found.headers["Content-Disposition"].endswith('.xml"')


def test_the_page_of_the_client_is_looked_at_without_being_counted(
    browser: Browser, invoice: str, app: Flask
) -> None:
    assert browser.get(f"{invoice}/page").status_code == 409  # a draft has none
    assert f"/admin/{invoice}/page" not in browser.get(invoice).text
    browser.submit(invoice, step="status:Sent")
    assert f"/admin/{invoice}/page" in browser.get(invoice).text
    led = browser.get(f"{invoice}/page")
    assert led.status_code == 303
    address = led.headers["Location"]
    assert address.startswith("/s/i/")
    firefox = {"User-Agent": "Mozilla/5.0 Firefox/140.0"}
    assert app.test_client().get(address, headers=firefox).status_code == 200
    assert "Viewed at" not in browser.get(invoice).text


def test_a_payment_is_taken_back(browser: Browser, invoice: str) -> None:
    browser.submit(invoice, step="status:Sent")
    paid = {"step": "payment", "amount": "100", "date": "2026-01-05", "method": "transfer"}
    assert browser.submit(invoice, **paid).status_code == 303
    found = re.search(rf"/admin/({invoice}/payments/\d+/reverse)", browser.get(invoice).text)
    assert found is not None
    assert browser.submit(found[1]).status_code == 303
    assert "/reverse" not in browser.get(invoice).text


def test_who_may_only_read_invoices_sends_none(sign_in: SignIn, invoice: str) -> None:
    viewer = sign_in("Viewer")
    assert viewer.get(f"{invoice}/mails").status_code == 200
    assert "/send" not in viewer.get(invoice).text
    assert viewer.get(f"{invoice}/send").status_code == 403
    for path in ("send", "mails/1", "payments/1/reverse"):
        assert viewer.submit(f"{invoice}/{path}").status_code == 403
    assert viewer.get("mail").status_code == 403
    assert viewer.submit("mail/1").status_code == 403


def test_a_conversion_is_shown_before_it_is_done(browser: Browser, session: Session) -> None:
    lead = browser.make("leads", company="Globex", lastName="Hopper", email="g@globex.example")
    page = browser.get(f"leads/{lead}/convert").text
    assert "What comes of it" in page and "Globex" in page and "Hopper" in page
    assert session.scalar(select(func.count()).select_from(Client)) == 0
    looked = browser.submit(f"leads/{lead}/convert", step="preview", createOpportunity="on",
                            name="Big deal", amount="12.50")  # fmt: skip
    assert "Big deal" in looked.text
    wrong = browser.submit(f"leads/{lead}/convert", createOpportunity="on", amount="much")
    assert wrong.status_code == 400 and "must be a number" in wrong.text
    done = browser.submit(f"leads/{lead}/convert", createContact="on", createOpportunity="on")
    assert done.status_code == 303
    client = done.headers["Location"].removeprefix("/admin/")
    assert "Globex" in browser.get(client).text and "Hopper" in browser.get(client).text
    assert browser.submit(f"leads/{lead}/convert").status_code == 409


def test_a_viewer_converts_nothing(browser: Browser, sign_in: SignIn) -> None:
    lead = browser.make("leads", company="Globex", lastName="Hopper")
    viewer = sign_in("Viewer")
    assert viewer.get(f"leads/{lead}/convert").status_code == 403
    assert viewer.submit(f"leads/{lead}/convert").status_code == 403


LINE = {"line.0.description": "Work", "line.0.unitPrice": "10", "line.0.quantity": "3"}


def plain(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_letter_is_filled_in_with_the_number_to_be(browser: Browser, invoice: str) -> None:
    page = browser.get(f"{invoice}/send").text
    number = re.search(r'name="number" value="(INV-\d{4}-00001)"', page)
    assert number is not None and f"issues it as <strong>{number[1]}</strong>" in page
    assert number[1] in page.split('name="message"')[1].split("</textarea>")[0]
    assert re.search(rf'name="subject" value="[^"]*{number[1]}', page)
    form = {"to": "a@example.com", "subject": f"Bill {number[1]}", "message": "Dear\r\n{link}"}
    assert browser.submit(f"{invoice}/send", number=number[1], **form).status_code == 303
    shown = browser.get(invoice).text
    assert f"Issued as {number[1]}." in shown and f"{number[1]} goes to a@example.com." in shown


def test_a_reminder_is_filled_in_changed_and_counted_once(
    browser: Browser, invoice: str, app: Flask, session: Session
) -> None:
    assert browser.submit(f"{invoice}/send", to="a@example.com").status_code == 303
    assert "letter=reminder" not in browser.get(invoice).text
    early = browser.submit(f"{invoice}/send", to="a@example.com", letter="reminder")
    assert early.status_code == 409 and "Only an invoice that is overdue" in early.text
    with app.app_context(), transaction():
        key = int(invoice.rpartition("/")[2])
        put_row(Invoice, key, issue_date=date(2026, 1, 1), due_date=date(2026, 1, 2))
    assert f"{invoice}/send?letter=reminder" in browser.get(invoice).text
    page = browser.get(f"{invoice}/send?letter=reminder").text
    assert "reminder" in page.split('name="subject" value="')[1].split('"')[0].lower()
    assert 'name="letter" value="reminder"' in page and "markOnly" not in page
    form = {"to": "a@example.com", "subject": "Please pay", "message": "Dear", "letter": "reminder"}
    assert "Please pay" in browser.submit(f"{invoice}/send", step="preview", **form).text
    for _ in range(2):  # twice at once is one
        assert browser.submit(f"{invoice}/send", **form).status_code == 303
    session.rollback()
    assert session.scalars(select(Invoice.reminders_sent)).one() == 1
    assert "Reminder sent" in browser.get(invoice).text.split('class="timeline"')[1]
    subjects = session.scalars(select(OutgoingMail.subject).order_by(OutgoingMail.id)).all()
    assert subjects[1:] == ["Please pay"]


def test_a_letter_with_a_number_that_went_elsewhere_is_not_sent(
    browser: Browser, invoice: str, app: Flask, session: Session
) -> None:
    number = re.search(r'name="number" value="([^"]+)"', browser.get(f"{invoice}/send").text)
    assert number is not None
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        other = make_invoice(client_id=1, line_items=[line("1", tax_rate=Decimal(0))])
    assert browser.submit(f"invoices/{other}/send", markOnly="on").status_code == 303
    form = {"to": "a@example.com", "subject": f"Bill {number[1]}", "message": "x"}
    late = browser.submit(f"{invoice}/send", number=number[1], **form)
    assert late.status_code == 409 and "was given to another document" in late.text
    fresh = number[1].removesuffix("1") + "2"
    assert f'name="number" value="{fresh}"' in late.text and f'value="Bill {fresh}"' in late.text
    assert session.scalar(select(func.count()).select_from(OutgoingMail)) == 0
    again = browser.submit(f"{invoice}/send", number=fresh, **form)
    assert again.status_code == 303


def test_totals_of_what_is_typed_are_those_that_are_saved(browser: Browser) -> None:
    client = browser.make("clients", name="Acme", currency="JPY")
    form = {**LINE, "lines": "1", "clientId": str(client), "discountPercent": "10",
            "line.1.description": "Half", "line.1.unitPrice": "1,5x"}  # fmt: skip
    looked = browser.submit("invoices/new", step="totals", **form)
    assert looked.status_code == 200 and 'value="1,5x"' in looked.text
    totals = plain(looked.text.split('id="totals"')[1].split("</div>")[0])
    assert "Subtotal 30" in totals and "Total 32 JPY" in totals
    assert "Without 1 line that is not complete yet." in totals
    assert 'href="/admin/invoices/1"' not in browser.get("invoices/").text
    del form["line.1.description"], form["line.1.unitPrice"]
    key = browser.make("invoices", **form)
    assert "Total 32 JPY" in plain(browser.get(f"invoices/{key}").text)
    assert "Total 32 JPY" in plain(browser.get(f"invoices/{key}/edit").text)


def test_what_is_wrong_with_a_line_is_said_at_its_field(browser: Browser) -> None:
    client = browser.make("clients", name="Acme")
    form = {**LINE, "lines": "1", "clientId": str(client), "line.0.quantity": "0",
            "line.0.taxRate": "nineteen"}  # fmt: skip
    wrong = browser.submit("invoices/new", **form)
    assert wrong.status_code == 400 and 'value="nineteen"' in wrong.text
    assert 'aria-describedby="line-0-taxRate-p"' in wrong.text
    form["line.0.taxRate"] = "19"
    wrong = browser.submit("invoices/new", **form)
    assert 'id="line-0-quantity-p">must be more than 0<' in wrong.text


@pytest.mark.parametrize(
    "typed", ["quantity", "unitCode", "discountPercent", "taxRate", "taxExemptionReason"]
)
def test_a_line_in_which_anything_was_typed_is_never_dropped(browser: Browser, typed: str) -> None:
    client = browser.make("clients", name="Acme")
    form = {**LINE, "lines": "1", "clientId": str(client), f"line.1.{typed}": "5"}
    wrong = browser.submit("invoices/new", **form)
    assert wrong.status_code == 400
    assert 'id="line-1-description-p"' in wrong.text and 'id="line-1-unitPrice-p"' in wrong.text
    assert f'name="line.1.{typed}" value="5"' in wrong.text
    del form[f"line.1.{typed}"]
    key = browser.make("invoices", **form, **{"line.1.taxCategory": "Standard"})
    kept = re.findall(r'name="line.\d+.id" value="\d+"', browser.get(f"invoices/{key}/edit").text)
    assert len(kept) == 1


def test_as_many_lines_as_an_invoice_takes_are_shown_page_by_page_and_kept(
    browser: Browser, app: Flask, session: Session
) -> None:
    client = browser.make("clients", name="Acme")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        key = make_invoice(client_id=client, line_items=[line("1") for _ in range(1000)])
    page = browser.get(f"invoices/{key}")
    assert len(page.data) < 150_000 and "All 1,000" in page.text
    assert "of 1,000" in browser.get(f"invoices/{key}/all/LineItems?skip=990").text
    form = browser.get(f"invoices/{key}/edit")
    assert len(form.data) < 90_000 and "1 to 25 of 1,000" in form.text
    saved = browser.submit(f"invoices/{key}/edit", reference="PO 1", version='W/"1"')
    assert saved.status_code == 303
    assert session.scalar(select(func.count()).select_from(LineItem)) == 1000


def test_what_is_about_an_amount_is_offered_while_something_is_left_of_it(
    browser: Browser, invoice: str
) -> None:
    paid = {"step": "payment", "amount": "60", "date": "2026-01-05", "method": "transfer"}
    assert 'value="payment"' in browser.get(invoice).text
    assert browser.submit(invoice, **paid).status_code == 303
    part_paid = browser.get(invoice).text
    assert 'value="payment"' in part_paid and 'value="40.00"' in part_paid
    assert browser.submit(invoice, **paid, allowOverpayment="1").status_code == 303
    assert 'value="payment"' not in browser.get(invoice).text
    for (entity, name), operation in OFFERED.items():
        if operation.button and operation.button.fills:
            nothing = dict.fromkeys(operation.button.fills.values(), Decimal(0))
            assert steps_of(entity, [name], nothing) == []


def test_a_step_that_is_hard_to_undo_names_its_amount(browser: Browser, invoice: str) -> None:
    assert browser.submit(f"{invoice}/send", markOnly="on").status_code == 303
    page = browser.get(invoice).text
    assert 'class="main">Credit 100.00 EUR<' in page
    assert 'data-confirm="Write off 100.00 EUR: INV-' in page


def test_documents_of_a_client_are_named_and_priced_as_in_their_list(
    browser: Browser, invoice: str
) -> None:
    key = invoice.rpartition("/")[2]
    client = re.search(r"/admin/(clients/\d+)", browser.get(invoice).text)
    assert client is not None
    page = browser.get(client[1]).text
    assert f">Draft {key}</a>" in page and f">#{key}<" not in page
    assert 'value="100.00">100.00</data> <small class="currency">EUR</small>' in page


def test_an_e_invoice_is_checked_and_links_that_were_sent_are_withdrawn(
    browser: Browser, invoice: str, session: Session, sign_in: SignIn
) -> None:
    assert f"/admin/{invoice}/einvoice" in browser.get(invoice).text
    assert "would be broken" in browser.get(f"{invoice}/einvoice").text
    assert browser.submit(f"{invoice}/send", markOnly="on").status_code == 303
    assert f"/admin/{invoice}/link" in browser.get(invoice).text
    version = select(Invoice.link_version)
    before = session.scalar(version)
    session.rollback()
    assert sign_in("Viewer").submit(f"{invoice}/link").status_code == 403
    assert browser.submit(f"{invoice}/link").status_code == 303
    assert session.scalar(version) != before
