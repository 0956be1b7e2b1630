"""Forms: records are named as people call them, invoices have lines, defaults make sense."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.client import Client, Contact
from app.models.invoice import Invoice, LineItem
from tests.console.conftest import Browser, SignIn
from tests.factories import today

LINES = {
    "line.0.description": "Consulting", "line.0.quantity": "2,5", "line.0.unitPrice": "1.000,40",
    "line.2.description": "Travel", "line.2.unitPrice": "80", "line.2.taxRate": "7",
}  # fmt: skip


def make_invoice(browser: Browser, **fields: str) -> int:
    client = browser.make("clients", name="Acme", email="office@acme.example")
    return browser.make("invoices", clientId=str(client), lines="1", **fields)


def version_of(browser: Browser, path: str) -> str:
    found = re.search(r'name="version" value="([^"]+)"', browser.get(f"{path}/edit").text)
    assert found is not None
    return found[1].replace("&#34;", '"')


@pytest.mark.parametrize("typed", ["Acme (C-000001)", "Acme", "C-000001", "1", "#1"])
def test_a_client_is_named_as_people_call_it(sign_in: SignIn, session: Session, typed: str) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    contact = browser.make("contacts", lastName="Berg", clientId=typed)
    assert session.execute(select(Contact.client_id)).scalar_one() == client
    assert 'value="Acme (C-000001)"' in browser.get(f"contacts/{contact}/edit").text


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("Nobody", "is the name of no record"),
        ("Twins", "Twins (C-000001); Twins (C-000002)"),
        ("pola", "as it stands here: Polaris Ltd (C-000003)"),
        ("Nova", "more of the name: Nova 1 (C-000004); Nova 2 (C-000005); Nova 3 (C-000006)<"),
    ],
    ids=["none", "two of the name", "a part of one", "a part of many"],
)
def test_a_name_that_decides_nothing_is_refused_with_what_it_may_mean(
    sign_in: SignIn, typed: str, problem: str
) -> None:
    browser = sign_in("Admin")
    for name in ("Twins", "Twins", "Polaris Ltd", "Nova 1", "Nova 2", "Nova 3", "Nova 4"):
        browser.make("clients", name=name)
    answer = browser.submit("contacts/new", lastName="Berg", clientId=typed)
    assert answer.status_code == 400
    assert problem in answer.text and f'value="{typed}"' in answer.text


@pytest.mark.parametrize(
    ("path", "fields", "offered"),
    [
        ("leads", {"company": "Acme"}, ["New", "Contacted", "Nurturing", "Qualified"]),
        ("projects", {"name": "Move"}, ["Planned", "Active", "OnHold"]),
        ("clients", {"name": "Acme"}, ["Prospect", "Active", "Inactive", "Blocked"]),
    ],
)
def test_a_form_offers_the_states_that_the_service_takes(
    sign_in: SignIn, path: str, fields: dict[str, str], offered: list[str]
) -> None:
    browser = sign_in("Admin")
    options = re.compile(r'<select id="f-status".*?</select>', re.DOTALL)

    def states(address: str) -> list[str]:
        return re.findall(r'<option value="(\w+)"', options.findall(browser.get(address).text)[0])

    assert states(f"{path}/new") == offered
    for state in offered:
        key = browser.make(path, status=state, **fields)
        assert states(f"{path}/{key}/edit")[0] == state or path == "clients"
        for other in states(f"{path}/{key}/edit"):
            answer = browser.submit(f"{path}/{key}/edit", status=other, **fields)
            assert answer.status_code == 303 or "reason" in answer.text.lower(), (state, other)
            key = browser.make(path, status=state, **fields)


def test_what_is_no_country_is_said_so(sign_in: SignIn) -> None:
    typed = {"name": "Acme", "billingAddress.country": "Wakanda"}
    answer = sign_in("Admin").submit("clients/new", **typed)
    assert answer.status_code == 400
    assert "is no country that is known" in answer.text and 'value="Wakanda"' in answer.text


def test_records_are_suggested_whatever_their_case(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("clients", name="Acme")
    browser.make("clients", name="Beta")
    assert browser.get("choices/clients?q=acm").json == {"items": ["Acme (C-000001)"]}
    assert browser.get("choices/users?q=ADM").json == {"items": ["Admin (#1)"]}
    assert len(browser.get("choices/clients").json["items"]) == 2
    assert browser.get("choices/secrets").status_code == 404


def test_nothing_is_suggested_that_the_role_may_not_read(sign_in: SignIn) -> None:
    assert sign_in("Support").get("choices/opportunities").status_code == 403


def test_an_invoice_is_made_with_its_lines(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    key = make_invoice(browser, **LINES)
    rows = session.execute(
        select(LineItem.description, LineItem.quantity, LineItem.unit_price, LineItem.tax_rate)
        .order_by(LineItem.position)
    ).all()  # fmt: skip
    assert [tuple(row) for row in rows] == [
        ("Consulting", Decimal("2.5"), Decimal("1000.40"), Decimal(19)),
        ("Travel", Decimal(1), Decimal(80), Decimal(7)),
    ]
    assert "Consulting" in browser.get(f"invoices/{key}").text


def test_lines_are_changed_removed_and_added(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    key = make_invoice(browser, **LINES)
    first = session.execute(
        select(LineItem.id).where(LineItem.description == "Consulting")
    ).scalar_one()
    session.rollback()
    answer = browser.submit(
        f"invoices/{key}/edit", version=version_of(browser, f"invoices/{key}"), lines="1",
        **{
            "line.0.id": str(first), "line.0.description": "Advice", "line.0.quantity": "2.5",
            "line.0.unitPrice": "1000.4", "line.0.taxRate": "19", "line.0.taxCategory": "S",
            "line.5.description": "Hotel", "line.5.unitPrice": "120",
        },
    )  # fmt: skip
    assert answer.status_code == 303, answer.text
    names = session.execute(select(LineItem.description).order_by(LineItem.position)).scalars()
    assert list(names) == ["Advice", "Hotel"]


def test_a_form_without_changes_writes_nothing(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    key = make_invoice(browser, **LINES)
    text = browser.get(f"invoices/{key}/edit").text
    fields = dict(re.findall(r'name="(line\.\d\.\w+)" value="([^"]*)"', text))
    chosen = re.findall(
        r'name="(line\.\d\.taxCategory)".*?<option value="(\w+)" selected', text, re.DOTALL
    )
    before = session.execute(select(Invoice.version)).scalar_one()
    session.rollback()
    answer = browser.submit(
        f"invoices/{key}/edit", lines="1", **fields, **dict(chosen[:2]),
    )  # fmt: skip
    assert answer.status_code == 303
    assert "Nothing was changed." in browser.get(f"invoices/{key}").text
    assert session.execute(select(Invoice.version)).scalar_one() == before


def test_a_line_that_is_refused_says_so_in_its_row(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    for price, problem in (("many", "must be a number"), ("-1", "must be")):
        answer = browser.submit(
            "invoices/new", clientId=str(client), lines="1",
            **{"line.3.description": "Advice", "line.3.unitPrice": price},
        )  # fmt: skip
        assert answer.status_code == 400
        assert problem in answer.text and 'value="Advice"' in answer.text


def test_all_that_is_wrong_is_said_at_once(sign_in: SignIn, session: Session) -> None:
    """What the form cannot read, with what the service refuses of the other fields."""
    browser = sign_in("Admin")
    wrong = {"name": "", "email": "nobody", "revenue": "much"}
    refused = browser.submit("clients/new", **wrong)
    assert refused.status_code == 400
    for reason in ("is required", "must be an e-mail address", "must be a number"):
        assert refused.text.count(f"{reason}") == 1, reason
    key = browser.make("clients", name="Acme")
    refused = browser.submit(f"clients/{key}/edit", **wrong | {"name": "Beta"})
    assert "must be an e-mail address" in refused.text and "must be a number" in refused.text
    assert browser.submit(f"clients/{key}/edit", name="Beta", revenue="much").status_code == 400
    assert session.scalars(select(Client.name)).one() == "Acme"


def many_lines(count: int, text: str = "Consulting") -> dict[str, str]:
    return {
        f"line.{number}.{name}": value
        for number in range(count)
        for name, value in {"description": text, "unitPrice": "10", "taxCategory": "S"}.items()
    }


def test_too_many_lines_are_refused_once_with_all_of_them_in_the_form(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = str(browser.make("clients", name="Acme"))
    description = "Consulting in May, on site " * 20
    typed = many_lines(1001, description)
    refused = browser.submit("invoices/new", clientId=client, lines="1", **typed)
    assert refused.status_code == 400
    assert refused.text.count("Line items: must have at most 1,000 entries") == 1
    assert refused.text.count(description.strip()) == 1001


def test_an_issued_invoice_has_no_lines_to_change(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = make_invoice(browser, **LINES)
    assert browser.submit(f"invoices/{key}", step="status:Sent").status_code == 303
    assert "line.0.description" not in browser.get(f"invoices/{key}/edit").text


def test_a_record_begins_with_the_one_it_belongs_to(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    page = browser.get(f"clients/{client}").text
    assert f"/admin/tasks/new?relatedId={client}&amp;relatedType=Client" in page
    link = f"contacts/new?clientId={client}"
    assert f"/admin/{link}" in page
    assert 'value="Acme (C-000001)"' in browser.get(link).text


def test_an_instant_is_typed_in_the_time_of_the_organisation(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("tasks", title="Call", dueAt="2026-03-01T09:30")
    assert 'value="2026-03-01T09:30"' in browser.get(f"tasks/{key}/edit").text
    wrong = browser.submit("tasks/new", title="Call", dueAt="soon")
    assert wrong.status_code == 400 and "must be a day and a time" in wrong.text


def test_what_was_done_is_said_once(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("leads", company="Acme", lastName="Doe")
    assert "Lead saved." in browser.get(f"leads/{key}").text
    assert "Lead saved." not in browser.get(f"leads/{key}").text
    browser.submit(f"leads/{key}", step="status:Contacted")
    assert "Lead: Contacted." in browser.get(f"leads/{key}").text


def test_a_view_keeps_what_it_names(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    make_invoice(browser, **LINES)
    assert "Nothing fits." in browser.get("invoices/?view=Unpaid").text
    browser.submit("invoices/1", step="status:Sent")
    assert "of 1<" in browser.get("invoices/?view=Unpaid").text
    assert "of 1<" in browser.get(f"invoices/?where=issueDate:in:{today()}").text
    assert "Nothing fits." in browser.get("invoices/?where=issueDate:in:2001-12-01").text
    assert "of 1<" in browser.get("invoices/?where=issueDate:in:soon").text
    assert "There is nothing here yet." in browser.get("projects/").text


def test_a_product_is_offered_the_units_by_their_names(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("products", name="Tent", unitPrice="5", unitCode="Woche")
    made = browser.make("products", name="Crate", unitPrice="5", unitCode="XCR")
    page = browser.client.get("/admin/products/new", headers={"Accept-Language": "de"}).text
    (field,) = re.findall(r'<input id="f-unitCode"[^>]*>', page)
    assert 'list="names-unitCode"' in field
    offered = re.findall(r'<option value="([^"]*)">', page.partition('id="names-unitCode"')[2])
    offered = offered[: offered.index("%") + 1]
    assert offered[:2] == ["Woche", "XCR"] and "Std." in offered and "HUR" not in offered
    assert len(set(offered)) == len(offered)
    assert 'value="XCR"' in browser.get(f"products/{made}/edit").text
