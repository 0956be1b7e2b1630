"""The page of a document for its client: who gets there, what it shows, when it counts as seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
import time_machine
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.models.event import AuditRecord, Event, OutgoingMail
from tests.conftest import KeepApp
from tests.contract.conftest import Api
from tests.contract.test_rest_mail import make
from tests.contract.test_rest_money import refusal

BROWSER = {
    "Accept": "text/html,application/xhtml+xml",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}
SELLER = {
    "name": "My Company", "country": "DE", "taxId": "DE136695976", "street": "Weg 1",
    "city": "Ulm", "postalCode": "89073", "email": "billing@my.example",
}  # fmt: skip
BANK = {"iban": "DE89370400440532013000", "bic": "COBADEFFXXX"}
ADDRESS = {"street": "Ring 2", "city": "Bonn", "postalCode": "53111", "country": "DE"}


class Text(HTMLParser):
    """What a page says, and where its links go."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.text.append(data.strip())

    @property
    def facts(self) -> dict[str, str]:
        return dict(zip(self.text, self.text[1:], strict=False))


def issue(admin: Api, **client: Any) -> tuple[int, str]:
    """An issued invoice of 119.00 and the path of its page."""
    admin.patch("/api/admin/settings", {"seller": SELLER, "bank": BANK})
    key = make(admin, billingAddress=ADDRESS, **client)["id"]
    assert admin.post(f"/api/invoices/{key}/send", {}).status_code == 200
    return key, path_of(admin, key)


def path_of(admin: Api, key: int) -> str:
    answer = admin.get(f"/api/invoices/{key}/link")
    assert answer.status_code == 200, answer.text
    url: str = answer.json["url"]
    assert url.startswith("http://localhost/s/i/")
    return url.removeprefix("http://localhost")


def visit(api: Api, path: str, method: str = "GET", **headers: str) -> TestResponse:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.client.open(path, method=method, headers={**BROWSER, **given})


def views(session: Session) -> int:
    session.rollback()
    named = select(func.count()).select_from(Event).where(Event.type == "invoice.viewed")
    return int(session.execute(named).scalar_one())


def test_the_mail_leads_to_the_page(admin: Api, session: Session) -> None:
    key, path = issue(admin)
    row = session.connection().execute(select(OutgoingMail)).one()
    assert f"View online: http://localhost{path}" in row.text_body
    assert Text(str(row.html_body)).links == [f"http://localhost{path}"]
    answer = visit(admin, path)
    page = Text(answer.text)
    number = admin.get(f"/odata/Invoices({key})").json["number"]
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert f"Invoice {number}" in page.text
    assert page.facts["Status"] == "Open"
    assert page.facts["Total"] == "€119.00"
    assert page.facts["IBAN"] == "DE89 3704 0044 0532 0130 00"
    assert page.facts["Reference"] == number
    assert "My Company" in page.text
    assert page.links == ["?file=pdf", "?file=einvoice"]


def test_nothing_runs_on_the_page_and_nobody_keeps_it(admin: Api) -> None:
    _, path = issue(admin, name="<script>alert(1)</script>")
    answer = visit(admin, path)
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy + answer.text.lower().replace("description", "")
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert path.rpartition("/")[2] not in answer.text
    assert "Set-Cookie" not in answer.headers


def test_the_files_are_those_of_issue(admin: Api) -> None:
    key, path = issue(admin)
    pdf = visit(admin, f"{path}?file=pdf")
    assert pdf.data == admin.get(f"/api/invoices/{key}/pdf").data
    assert pdf.headers["Content-Disposition"].startswith('attachment; filename="INV-')
    data = visit(admin, f"{path}?file=einvoice")
    assert data.data == admin.get(f"/api/invoices/{key}/einvoice?format=ubl").data
    assert visit(admin, f"{path}?file=html").status_code == 400
    assert pdf.headers["Cache-Control"] == "no-store"


def test_an_invoice_whose_data_allow_no_e_invoice_offers_none(admin: Api) -> None:
    key = make(admin)["id"]
    admin.post(f"/api/invoices/{key}/send", {})
    path = path_of(admin, key)
    assert Text(visit(admin, path).text).links == ["?file=pdf"]
    assert visit(admin, f"{path}?file=einvoice").status_code == 400


def test_the_first_view_is_told_once(admin: Api, session: Session) -> None:
    key, path = issue(admin)
    before = admin.get(f"/odata/Invoices({key})").json
    assert (before["viewedAt"], views(session)) == (None, 0)
    for _ in range(3):
        assert visit(admin, path).status_code == 200
    after = admin.get(f"/odata/Invoices({key})").json
    assert after["viewedAt"] is not None
    assert after["status"] == "Sent"
    assert after["@odata.etag"] != before["@odata.etag"]
    assert views(session) == 1
    event = session.connection().execute(select(Event).where(Event.type == "invoice.viewed")).one()
    assert event.payload["object"]["viewedAt"] == after["viewedAt"]
    assert event.payload["actor"] == {"id": None, "via": "share"}
    assert admin.get(f"/api/invoices/{key}/link").json["viewedAt"] == after["viewedAt"]


def test_twenty_first_views_are_one(admin: Api, app: Flask, session: Session) -> None:
    _, path = issue(admin)

    def look(_: int) -> int:
        return app.test_client().get(path, headers=BROWSER).status_code

    with ThreadPoolExecutor(20) as threads:
        assert set(threads.map(look, range(20))) == {200}
    assert views(session) == 1


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("GET", {"Sec_Purpose": "prefetch;prerender"}),
        ("GET", {"Purpose": "prefetch"}),
        ("GET", {"X_Moz": "prefetch"}),
        ("GET", {"X_Purpose": "preview"}),
        ("GET", {"Authorization": "Bearer x"}),
        ("GET", {"X_API_Key": "bpk_live_x"}),
        ("GET", {"User_Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}),
        ("GET", {"User_Agent": "facebookexternalhit/1.1"}),
        ("GET", {"User_Agent": "python-requests/2.32"}),
        ("GET", {"User_Agent": ""}),
    ],
)
def test_whoever_is_no_reader_does_not_count(
    admin: Api, session: Session, method: str, headers: dict[str, str]
) -> None:
    key, path = issue(admin)
    assert visit(admin, path, method, **headers).status_code == 200
    assert visit(admin, f"{path}?file=pdf", method, **headers).status_code == 200
    assert views(session) == 0
    assert admin.get(f"/odata/Invoices({key})").json["viewedAt"] is None
    visit(admin, path)
    assert views(session) == 1


def test_somebody_of_the_house_looks_without_being_counted(admin: Api, session: Session) -> None:
    _, path = issue(admin)
    page = Text(visit(admin, f"{path}?preview=1").text)
    assert page.links == ["?file=pdf&preview=1", "?file=einvoice&preview=1"]
    for link in page.links:
        assert visit(admin, path + link).status_code == 200
    assert views(session) == 0


def test_taking_the_file_counts_too(admin: Api, session: Session) -> None:
    _, path = issue(admin)
    visit(admin, f"{path}?file=pdf")
    assert views(session) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "Q"),
        lambda token: re.sub(r"^\d+", lambda key: str(int(key[0]) + 1), token),
        lambda token: token.replace("-0-", "-1-"),
        lambda token: token[:-1], lambda token: "x", lambda token: "1-0-" + "A" * 22,
        lambda token: "9" * 30 + "-0-" + "A" * 22, lambda token: token + " ",
    ],
)  # fmt: skip
def test_a_link_cannot_be_made_up(admin: Api, change: Callable[[str], str]) -> None:
    _, path = issue(admin)
    place, _, token = path.rpartition("/")
    answer = visit(admin, f"{place}/{change(token)}")
    assert answer.status_code == 404
    assert "INV-" not in answer.text


def test_a_withdrawn_link_is_nothing_and_the_next_one_is_another(
    admin: Api, session: Session
) -> None:
    key, path = issue(admin)
    assert path_of(admin, key) == path
    assert admin.delete(f"/api/invoices/{key}/link").status_code == 204
    for query in ("", "?file=pdf", "?file=einvoice"):
        answer = visit(admin, path + query)
        assert answer.status_code == 404
        assert "does not work" in answer.text
    assert views(session) == 0
    audited = select(AuditRecord.action).where(AuditRecord.action == "invoice.link_withdrawn")
    assert session.execute(audited).scalars().all() == ["invoice.link_withdrawn"]
    other = path_of(admin, key)
    assert other != path
    assert visit(admin, other).status_code == 200


def test_a_draft_has_no_page(admin: Api) -> None:
    key = make(admin)["id"]
    assert refusal(admin.get(f"/api/invoices/{key}/link")) == (409, "INVALID_STATE")
    # The letter of a draft shows the address that it will have.
    text = admin.post(f"/api/invoices/{key}/preview", {}).json["text"]
    path = text.rpartition("http://localhost")[2]
    assert visit(admin, path).status_code == 404
    admin.post(f"/api/invoices/{key}/send", {})
    assert path_of(admin, key) == path


def test_a_void_document_says_so_and_gives_nothing(admin: Api, session: Session) -> None:
    key, path = issue(admin, language="de")
    assert admin.post(f"/api/invoices/{key}/void", {"reason": "wrong"}).status_code == 200
    answer = visit(admin, path)
    page = Text(answer.text)
    assert answer.status_code == 200
    assert page.facts["Status"] == "Storniert"
    assert "Dieses Dokument wurde storniert. Es ist nichts zu zahlen." in page.text
    assert page.links == []
    assert "IBAN" not in page.text
    assert visit(admin, f"{path}?file=pdf").status_code == 409
    assert views(session) == 0


def test_the_page_says_how_the_invoice_stands(admin: Api) -> None:
    key, path = issue(admin)
    pay = {"date": "2026-01-10", "method": "transfer"}
    admin.post(f"/api/invoices/{key}/payments", {**pay, "amount": 19})
    facts = Text(visit(admin, path).text).facts
    assert (facts["Status"], facts["Amount due"]) == ("Partly paid", "€100.00")
    with time_machine.travel(datetime.now(UTC) + timedelta(days=60), tick=True):
        assert Text(visit(admin, path).text).facts["Status"] == "Overdue"
    admin.post(f"/api/invoices/{key}/payments", {**pay, "amount": 100})
    page = Text(visit(admin, path).text)
    assert page.facts["Status"] == "Paid"
    assert "IBAN" not in page.text
    credited, path = issue(admin)
    admin.post(f"/api/invoices/{credited}/credit-note", {})
    assert Text(visit(admin, path).text).facts["Status"] == "Credited"


def test_a_credit_note_has_a_page_too(admin: Api, session: Session) -> None:
    key, _ = issue(admin)
    note = admin.post(f"/api/invoices/{key}/credit-note", {}).json
    page = Text(visit(admin, path_of(admin, note["id"])).text)
    assert f"Credit note {note['number']}" in page.text
    assert page.facts["Credit total"] == "€119.00"
    assert "Status" not in page.text
    assert views(session) == 1


def test_the_settings_can_do_without(admin: Api, session: Session) -> None:
    key, path = issue(admin)
    switched = admin.patch("/api/admin/settings/invoicing", {"publicPage": False})
    assert switched.status_code == 200
    assert visit(admin, path).status_code == 404
    assert refusal(admin.get(f"/api/invoices/{key}/link")) == (409, "INVALID_STATE")
    admin.post(f"/api/invoices/{key}/send", {})
    session.rollback()
    last = (
        session.connection().execute(select(OutgoingMail).order_by(OutgoingMail.id.desc())).first()
    )
    assert last is not None
    assert "/s/i/" not in last.text_body + str(last.html_body)


def test_a_template_has_a_place_for_the_link(admin: Api) -> None:
    templates = {"invoice": {"en": {"message": "See {link} now."}}}
    admin.patch("/api/admin/settings/mail", {"templates": templates})
    text = admin.post(f"/api/invoices/{make(admin)['id']}/preview", {}).json["text"]
    assert re.fullmatch(r"See http://localhost/s/i/\S+ now\.", text)


def test_who_may_have_the_link(admin: Api, sign_in: Callable[..., Api]) -> None:
    key, path = issue(admin)
    for role, status in (("Manager", 200), ("Accountant", 200), ("Sales", 403), ("Viewer", 403)):
        caller = sign_in(role)
        assert caller.get(f"/api/invoices/{key}/link").status_code == status, role
        if status == 403:
            assert caller.delete(f"/api/invoices/{key}/link").status_code == 403
    assert admin.get("/api/invoices/98765/link").status_code == 404
    assert visit(admin, path).status_code == 200


def test_the_host_is_not_told_back(admin: Api) -> None:
    key, path = issue(admin)
    answer = admin.get(f"/api/invoices/{key}/link", headers={"Host": "evil.example"})
    assert answer.json["url"] == f"http://localhost{path}"
    assert "evil" not in visit(admin, path, Host="evil.example").text


def test_in_production_mail_names_the_service_by_its_setting_alone(
    keep_app: KeepApp, sign_in: Callable[..., Api]
) -> None:
    nameless = sign_in("Admin", keep_app(PRODUCTION=True))
    key = make(nameless)["id"]
    assert "/s/i/" not in nameless.post(f"/api/invoices/{key}/preview", {}).json["text"]
    named = keep_app(PRODUCTION=True, BASE_URL="https://bills.example")
    api = Api(named.test_client(), nameless.headers)
    text = api.post(f"/api/invoices/{key}/preview", {}).json["text"]
    assert "View online: https://bills.example/s/i/" in text


def test_links_outlive_a_change_of_the_secret(admin: Api, keep_app: KeepApp) -> None:
    key, path = issue(admin)
    before = "not-a-secret-only-for-the-tests-of-this-run"
    secret = "another secret of the next year, long"
    after = keep_app(SECRET_KEY=secret, SECRET_KEY_PREVIOUS=(before,))
    assert after.test_client().get(path, headers=BROWSER).status_code == 200
    without = keep_app(SECRET_KEY=secret)
    assert without.test_client().get(path, headers=BROWSER).status_code == 404
    assert key


def test_guessing_is_slowed(admin: Api, keep_app: KeepApp) -> None:
    _, path = issue(admin)
    visitor = keep_app(RATE_LIMIT_USER="3/minute").test_client()
    answers = [visitor.get(path + "x", headers=BROWSER).status_code for _ in range(4)]
    assert answers == [404] * 3 + [429]


def test_the_page_has_the_lines_and_a_code_to_pay(admin: Api) -> None:
    key, path = issue(admin)
    page = visit(admin, path).text
    (line,) = admin.get(f"/odata/Invoices({key})/LineItems").json["value"]
    assert line["description"] in page and "1 pc. \u00d7 100.00" in page and "<td>100.00" in page
    foot = re.findall(r'<th scope="row">(.*?)</th><td>(.*?)</td>', page)
    assert [amount for _, amount in foot] == ["100.00", "19.00", "€119.00"]
    assert 'aria-label="Scan to pay"' in page and 'fill="#000" d="M' in page
    number = admin.get(f"/odata/Invoices({key})").json["number"]
    paid = {"amount": 119, "date": "2026-01-05", "method": "transfer"}
    assert admin.post(f"/api/invoices/{key}/payments", paid).status_code == 201
    settled = visit(admin, path).text
    assert number in settled and "Scan to pay" not in settled
