"""The first page begins with what waits for the one who looks at it."""

from __future__ import annotations

import re
from datetime import timedelta

from tests.console.conftest import Browser, SignIn
from tests.factories import today


def due(days: int) -> str:
    return f"{today() + timedelta(days=days)}T10:00"


def titles(browser: Browser) -> list[str]:
    head = r'<h2 id="due-\d"><a href="[^"]+">([^<]+)</a> <small>(\d+)'
    found = re.findall(head, browser.get("").text)
    return [f"{title}: {count}" for title, count in found]


def make_ticket(browser: Browser, **fields: str) -> int:
    return browser.make(
        "tickets", subject="Printer", channel="Web", requesterEmail="a@b.example", **fields
    )


def test_own_tasks_are_shown_when_they_are_due(sign_in: SignIn) -> None:
    sales, other = sign_in("Sales"), sign_in("Manager")
    sales.make("tasks", title="Late", dueAt=due(-3))
    sales.make("tasks", title="Soon", dueAt=due(2))
    sales.make("tasks", title="Later", dueAt=due(30))
    sales.make("tasks", title="Some day")
    other.make("tasks", title="Of somebody else", dueAt=due(1))
    page = sales.get("").text
    assert titles(sales) == ["My tasks that are due: 2"]
    assert page.index(">Late<") < page.index(">Soon<") and "Overdue" in page
    assert ">Later<" not in page and "Of somebody else" not in page
    link = re.search(r'id="due-1"><a href="/admin/([^"]+)"', page)
    assert link is not None
    listed = sales.get(link[1].replace("&amp;", "&")).text
    assert "of 2<" in listed and ">Late<" in listed


def test_open_tickets_and_deals_without_a_next_step(sign_in: SignIn) -> None:
    admin = sign_in("Admin")
    make_ticket(admin, assigneeId="#1")
    make_ticket(admin)
    client = str(admin.make("clients", name="Acme"))
    deal = {"clientId": client, "amount": "10", "closeDate": str(today())}
    admin.make("opportunities", name="Stuck", **deal)
    admin.make("opportunities", name="Moving", nextStep="Call", **deal)
    assert titles(admin) == [
        "My open tickets: 1", "Unassigned open tickets: 1", "My deals without a next step: 1"
    ]  # fmt: skip
    page = admin.get("").text
    assert ">Stuck<" in page and ">Moving<" not in page


def test_what_a_role_may_not_read_is_not_shown(sign_in: SignIn) -> None:
    support = sign_in("Support")
    make_ticket(support, assigneeId="#1")
    assert titles(support) == ["My open tickets: 1"]
    assert "opportunities" not in support.get("").text


def test_nothing_waits_for_somebody_new(sign_in: SignIn) -> None:
    assert titles(sign_in("Viewer")) == []
