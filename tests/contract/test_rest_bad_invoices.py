"""Bad input to invoices and payments: a clear 4xx with the field named, nothing half written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from pypdf import PdfReader
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.event import OutgoingMail
from app.models.invoice import Invoice, LineItem, Payment
from app.models.user import User
from tests.contract.conftest import Api
from tests.contract.test_rest_money import draft, pay, refusal

HOSTILE = (
    "<b>x</b><img src='file:///etc/passwd'>",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "\u202etxt.exe\u2066",
    "../../../etc/passwd\\..\\x",
    "{{7*7}} ${7*7} %s %n",
    "Zalgo \u0315\u0357\u0350\u0343" * 5,
    "emoji 👩‍🚀 and \u200b zero width",
)
LINE = {"description": "Work", "unitPrice": 100}


def fields(answer: Any) -> set[str]:
    assert 400 <= answer.status_code < 500, answer.text
    return {detail["field"] for detail in answer.json["error"]["details"]}


@pytest.fixture
def client_id(admin: Api) -> int:
    """A client."""
    key: int = admin.post("/odata/Clients", {"name": "Acme", "email": "a@acme.example"}).json["id"]
    return key


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("unitPrice", -1), ("unitPrice", "-0.01"), ("unitPrice", 10**15), ("unitPrice", "1e40"),
        ("unitPrice", 1.00001), ("unitPrice", "NaN"), ("unitPrice", True), ("unitPrice", None),
        ("quantity", 0), ("quantity", -3), ("quantity", 10**9), ("quantity", 0.00001),
        ("discountPercent", 101), ("discountPercent", -1), ("discountPercent", 1.001),
        ("taxRate", 101), ("taxRate", -1), ("taxRate", 19.001), ("taxCategory", "X"),
        ("unitCode", "TOOLONG"), ("description", ""), ("description", "x" * 1001),
        ("description", 5), ("taskId", 999), ("periodEnd", "2026-02-30"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(admin: Api, client_id: int, name: str, value: Any) -> None:
    lines = [LINE, {**LINE, name: value}]
    answer = admin.post("/odata/Invoices", {"clientId": client_id, "LineItems": lines})
    assert answer.status_code == 400, answer.text
    assert fields(answer) == {f"LineItems[1].{name}"}
    assert admin.get("/odata/Invoices/$count").text == "0"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"currency": "XYZ"}, "currency"),
        ({"issueDate": "2026-05-02", "dueDate": "2026-05-01"}, "dueDate"),
        ({"issueDate": "yesterday"}, "issueDate"),
        ({"series": "../x"}, "series"),
        ({"discountPercent": 100.5}, "discountPercent"),
        ({"clientId": 999}, "clientId"),
        ({"notes": "x" * 2001}, "notes"),
        ({"type": "Bill"}, "type"),
        ({"eInvoiceFormat": "Paper"}, "eInvoiceFormat"),
        ({"creditedInvoiceId": 1}, "creditedInvoiceId"),
    ],
)
def test_a_bad_invoice_is_named(
    admin: Api, client_id: int, values: dict[str, Any], field: str
) -> None:
    body = {"clientId": client_id, "LineItems": [LINE], **values}
    assert field in fields(admin.post("/odata/Invoices", body))
    assert admin.get("/odata/Invoices/$count").text == "0"


def test_a_total_too_large_is_refused(admin: Api, client_id: int) -> None:
    line = {**LINE, "unitPrice": 99_999_999_999, "quantity": 99_999_999}
    answer = admin.post("/odata/Invoices", {"clientId": client_id, "LineItems": [line] * 3})
    assert refusal(answer) == (400, "VALIDATION_ERROR")


def test_lines_of_another_invoice_stay_where_they_are(admin: Api) -> None:
    first, second = draft(admin)["id"], draft(admin)["id"]
    (line,) = admin.get(f"/odata/Invoices({first})?$expand=LineItems").json["LineItems"]
    answer = admin.patch(f"/odata/Invoices({second})", {"LineItems": [{**line, "unitPrice": 1}]})
    assert answer.status_code in (200, 400)
    (kept,) = admin.get(f"/odata/Invoices({first})?$expand=LineItems").json["LineItems"]
    assert (kept["id"], kept["unitPrice"]) == (line["id"], line["unitPrice"])
    assert admin.patch(f"/odata/Invoices({second})/LineItems({line['id']})", {}).status_code == 404
    assert admin.delete(f"/odata/Invoices({second})/LineItems({line['id']})").status_code == 404


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"amount": 0}, "amount"), ({"amount": -1}, "amount"), ({"amount": 0.001}, "amount"),
        ({"amount": 10**17}, "amount"), ({"amount": "ten"}, "amount"), ({"amount": None}, "amount"),
        ({"amount": True}, "amount"), ({"date": "2999-01-01"}, "date"), ({"date": "x"}, "date"),
        ({"method": "gold"}, "method"), ({"method": 5}, "method"),
        ({"reference": "x" * 101}, "reference"), ({"currency": "USD"}, "currency"),
    ],
)  # fmt: skip
def test_a_bad_payment_is_named(admin: Api, values: dict[str, Any], field: str) -> None:
    key = draft(admin)["id"]
    body = {"amount": 10, "date": "2026-01-31", "method": "transfer", **values}
    answer = admin.post(f"/api/invoices/{key}/payments", body)
    assert answer.status_code == 400, answer.text
    assert field in fields(answer)
    invoice = admin.get(f"/odata/Invoices({key})").json
    assert (invoice["status"], invoice["number"]) == ("Draft", None)


def test_what_is_void_or_a_credit_note_takes_no_payment(admin: Api) -> None:
    key = draft(admin)["id"]
    admin.patch(f"/odata/Invoices({key})", {"status": "Sent"})
    credit = admin.post(f"/api/invoices/{key}/credit-note", {"issue": True}).json["id"]
    assert refusal(pay(admin, credit)) == (409, "INVALID_STATE")
    other = draft(admin)["id"]
    admin.patch(f"/odata/Invoices({other})", {"status": "Sent"})
    admin.post(f"/api/invoices/{other}/void", {"reason": "mistake"})
    assert refusal(pay(admin, other)) == (409, "INVALID_STATE")


def test_a_client_with_issued_invoices_stays(admin: Api) -> None:
    invoice = draft(admin)
    admin.patch(f"/odata/Invoices({invoice['id']})", {"status": "Sent"})
    answer = admin.delete(f"/odata/Clients({invoice['clientId']})")
    assert refusal(answer) == (409, "IN_USE")
    assert refusal(admin.delete(f"/odata/Invoices({invoice['id']})")) == (409, "INVALID_STATE")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_printed_and_sent_as_text(
    admin: Api, session: Session, text: str, tmp_path: Path
) -> None:
    values = {
        "name": text, "legalName": text, "email": "a@acme.example",
        "billingAddress": {"street": text, "city": text[:100], "country": "DE"},
        "buyerReference": text[:100],
    }  # fmt: skip
    client = admin.post("/odata/Clients", values)
    assert client.status_code == 201, client.text
    line = {**LINE, "description": text, "productCode": text[:64]}
    body = {
        "clientId": client.json["id"], "LineItems": [line], "notes": text, "terms": text,
        "reference": text[:100], "purchaseOrder": text[:50],
    }  # fmt: skip
    key = admin.post("/odata/Invoices", body).json["id"]
    started = time.perf_counter()
    answer = admin.post(f"/api/invoices/{key}/send", {"subject": text, "message": text})
    assert answer.status_code == 200, answer.text
    pdf = admin.get(f"/api/invoices/{key}/pdf")
    assert time.perf_counter() - started < 30  # seconds on a busy machine; no loop without end
    assert pdf.headers["Content-Disposition"] == f'inline; filename="{answer.json["number"]}.pdf"'
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf.data)
    assert "119.00" in PdfReader(path).pages[0].extract_text()
    assert b"root:" not in pdf.data  # a path in a text is not opened
    session.rollback()
    (mail,) = session.connection().execute(select(OutgoingMail))
    assert mail.subject.isprintable() or "\u202e" not in mail.subject
    assert "\n" not in mail.subject and "\r" not in mail.subject


@pytest.mark.costly(0)
def test_only_the_documents_sent_before_a_kill_are_sent(
    admin: Api, session: Session, app: Flask, tmp_path: Path
) -> None:
    """A bulk send is cut off half-way: what was sent is whole, the rest is untouched; repeated
    with the same key, each document goes out once."""
    keys = [draft(admin)["id"] for _ in range(6)]
    script = tmp_path / "send.py"
    script.write_text(SENDING)
    with subprocess.Popen(
        [sys.executable, str(script), app.config["SQLALCHEMY_DATABASE_URI"],
         str(app.config["DATA_DIR"]), *map(str, keys)],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2], env={"PYTHONPATH": "."},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        process.send_signal(signal.SIGKILL)
    assert said == "3 sent"
    session.rollback()
    sent = set(session.scalars(select(Invoice.id).where(Invoice.status == "Sent")))
    assert sent == set(keys[:3])
    assert count(session, OutgoingMail) == 3
    body = {"invoiceIds": keys, "to": ["a@acme.example"]}
    user = session.scalar(select(User.id).where(User.username == "admin"))
    assert user == 1  # whom the script has sent as
    answer = admin.post("/api/invoices/send", body, headers={"Idempotency-Key": "bulk-1"})
    assert (answer.json["sent"], answer.json["failed"]) == (6, 0)
    assert all(result["delivery"]["id"] for result in answer.json["results"])
    session.rollback()
    assert count(session, OutgoingMail) == 6
    numbers = session.scalars(select(Invoice.number).order_by(Invoice.number)).all()
    assert [number[-5:] for number in numbers if number] == [f"{n:05d}" for n in range(1, 7)]


SENDING = """
import sys, time
from dataclasses import replace
from pathlib import Path
from flask import g
from app.config import Config
from app.http.idempotency import KeyedRequest
from app.factory import create_app
from app.invoices import sending
from app.invoices.letters import Letter
from app.http.security import acting_as, system_caller

url, folder, *keys = sys.argv[1:]
whole = sending.send_invoice
done = []

def send(key, letter):
    if len(done) == 3:
        print("3 sent", flush=True)
        time.sleep(60)
    done.append(key)
    return whole(key, letter)

sending.send_invoice = send
app = create_app(Config(
    SECRET_KEY="not-a-secret-only-for-the-tests-of-this-run", DATA_DIR=Path(folder),
    SQLALCHEMY_DATABASE_URI=url, STORAGE_URL=f"file://{folder}/files",
))
with app.app_context(), acting_as(replace(system_caller("cli"), user_id=1)):
    g.keyed_request = KeyedRequest("user:1", "bulk-1", None)
    sending.send_invoices(map(int, keys), Letter(to=("a@acme.example",)))
"""


def count(session: Session, model: Any) -> int:
    return session.scalar(select(func.count()).select_from(model)) or 0


def test_nothing_was_written_by_what_was_refused(admin: Api, session: Session) -> None:
    key = draft(admin)["id"]
    for body in ({"amount": -1}, {"amount": 10, "date": "2026-01-31", "method": "gold"}, {}):
        assert admin.post(f"/api/invoices/{key}/payments", body).status_code == 400
    session.rollback()
    assert (count(session, Payment), count(session, LineItem)) == (0, 1)
    assert Decimal(str(admin.get(f"/odata/Invoices({key})").json["amountPaid"])) == 0
