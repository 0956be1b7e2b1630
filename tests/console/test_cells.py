"""One value of a record, changed where a list shows it."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.models.client import Client
from app.models.product import Product
from app.models.project import Task
from app.models.ticket import Ticket
from tests.console.conftest import Browser, SignIn

NO_SUCH = [
    "products/1/cells/createdAt", "products/1/cells/nothing", "products/1/cells/allowedActions",
    "tickets/1/cells/Client/Owner", "nothing/1/cells/name", "products/9/cells/name",
]  # fmt: skip


@pytest.fixture
def browser(sign_in: SignIn) -> Browser:
    return sign_in("Admin")


def version_of(page: TestResponse) -> str:
    found = re.search(r'name="version" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1].replace("&#34;", '"')


def change(browser: Browser, path: str, **fields: str) -> TestResponse:
    return browser.submit(path, version=version_of(browser.get(path)), **fields)


def test_a_value_is_changed_and_the_list_goes_on_as_it_was(
    browser: Browser, session: Session
) -> None:
    key = browser.make("products", name="Advice", unitPrice="128", isActive="true")
    path = f"products/{key}/cells/unitPrice"
    page = browser.get(f"{path}?view=Active&sort=name")
    assert 'name="unitPrice" value="128.00"' in page.text
    assert 'name="query" value="view=Active&amp;sort=name"' in page.text
    done = change(browser, path, unitPrice="129,50", query="view=Active&sort=name")
    assert done.status_code == 303, done.text
    assert done.headers["Location"] == "/admin/products/?view=Active&sort=name"
    listed = browser.get("products/?view=Active&sort=name").text
    assert "Advice: Unit price changed." in listed
    assert session.scalar(select(Product.unit_price)) == Decimal("129.5")


def test_cells_that_can_be_changed_are_marked_and_each_row_leads_to_its_form(
    browser: Browser, sign_in: SignIn
) -> None:
    key = browser.make("products", name="Advice", unitPrice="128")
    listed = browser.get("products/").text
    assert 'data-edit="unitPrice"' in listed and f'data-key="{key}"' in listed
    assert f'href="/admin/products/{key}/edit" aria-label="Change Advice"' in listed
    assert "allowedActions" not in listed.partition('<details class="hint">')[2]
    reader = sign_in("Viewer").get("products/").text
    assert "Advice" in reader
    assert "data-edit" not in reader and f"/admin/products/{key}/edit" not in reader


def test_of_records_that_are_not_theirs_people_see_no_way_to_change_them(
    browser: Browser, sign_in: SignIn, session: Session
) -> None:
    key = browser.make("tasks", title="Call")
    sales = sign_in("Sales")
    assert f'data-key="{key}"' in sales.get("tasks/").text
    assert "data-edit" not in sales.get("tasks/").text
    path = f"tasks/{key}/cells/title"
    assert "cannot be changed" in sales.get(path).text
    refused = change(sales, path, title="Mine")
    assert refused.status_code == 403 and 'id="cell-title-p"' in refused.text
    assert session.scalar(select(Task.title)) == "Call"


def test_a_state_offers_those_that_may_follow(browser: Browser, session: Session) -> None:
    key = browser.make(
        "tickets", subject="Printer", channel="Web", requesterEmail="a@b.example", assigneeId="#1"
    )
    path = f"tickets/{key}/cells/status"
    offered = re.findall(r'<option value="(\w+)"', browser.get(path).text)
    assert offered[0] == "Open" and "OnHold" in offered and "New" not in offered
    assert change(browser, path, status="OnHold").status_code == 303
    assert session.scalar(select(Ticket.status)) == "OnHold"


def test_somebody_is_named_in_the_column_of_people(browser: Browser, session: Session) -> None:
    key = browser.make("tickets", subject="Printer", channel="Web", requesterEmail="a@b.example")
    path = f"tickets/{key}/cells/Assignee"
    assert 'data-choices="/admin/choices/users"' in browser.get(path).text
    unknown = change(browser, path, assigneeId="Nobody at all")
    assert unknown.status_code == 400 and 'value="Nobody at all"' in unknown.text
    assert 'id="cell-assigneeId-p"' in unknown.text
    assert change(browser, path, assigneeId="#1").status_code == 303
    assert session.scalar(select(Ticket.assignee_id)) == 1


def test_a_switch_is_turned_off(browser: Browser, session: Session) -> None:
    key = browser.make("products", name="Advice", unitPrice="128", isActive="true")
    assert change(browser, f"products/{key}/cells/isActive").status_code == 303
    assert session.scalar(select(Product.is_active)) is False


@pytest.mark.parametrize("typed", ["cheap", "1.234,5.6", "-1", ""])
def test_what_is_refused_is_said_at_the_cell_as_it_was_typed(
    browser: Browser, session: Session, typed: str
) -> None:
    key = browser.make("products", name="Advice", unitPrice="128")
    refused = change(browser, f"products/{key}/cells/unitPrice", unitPrice=typed)
    assert refused.status_code == 400 and 'id="cell-unitPrice-p"' in refused.text
    assert f'name="unitPrice" value="{typed}"' in refused.text
    assert session.scalar(select(Product.unit_price)) == 128


def test_a_value_that_somebody_changed_meanwhile_is_shown_before_it_is_replaced(
    browser: Browser, session: Session
) -> None:
    key = browser.make("clients", name="Acme", email="old@acme.example")
    path = f"clients/{key}/cells/email"
    version = version_of(browser.get(path))
    assert change(browser, path, email="theirs@acme.example").status_code == 303
    late = browser.submit(path, version=version, email="mine@acme.example")
    assert late.status_code == 412 and "theirs@acme.example" in late.text
    assert 'value="mine@acme.example"' in late.text
    assert session.scalar(select(Client.email)) == "theirs@acme.example"
    session.rollback()
    again = browser.submit(path, version=version_of(late), email="mine@acme.example")
    assert again.status_code == 303
    assert session.scalar(select(Client.email)) == "mine@acme.example"


def test_what_is_as_it_was_is_no_change(browser: Browser, session: Session) -> None:
    key = browser.make("products", name="Advice", unitPrice="128")
    assert change(browser, f"products/{key}/cells/name", name="Advice").status_code == 303
    assert session.scalar(select(Product.version)) == 1


@pytest.mark.parametrize("path", NO_SUCH)
def test_there_is_no_cell_of_what_cannot_be_changed(browser: Browser, path: str) -> None:
    browser.make("products", name="Advice", unitPrice="128")
    assert browser.get(path).status_code == 404
    assert browser.submit(path, name="x").status_code == 404


def test_a_form_of_another_site_changes_nothing(browser: Browser, session: Session) -> None:
    key = browser.make("products", name="Advice", unitPrice="128")
    answer = browser.client.post(f"/admin/products/{key}/cells/name", data={"name": "Theirs"})
    assert answer.status_code == 403
    assert session.scalar(select(Product.name)) == "Advice"
