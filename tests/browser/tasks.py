"""Fifteen tasks of three roles, each from the first page on, with hands that count what they do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.browser.conftest import PASSWORD
from tests.factories import (
    make_article,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_lead,
    make_opportunity,
    make_product,
    make_ticket,
    put,
    today,
    update,
)

DOCS = Path(__file__).parents[2] / "docs" / "console.md"


@dataclass
class Hands:
    """What a person does to a page: one click or key at a time, each counted.

    Elements are named by what their language does not change. To choose of a list counts as two
    clicks, to drag as one; a key with Alt or Ctrl is one key. ``letters`` are those of values.
    """

    page: Page
    clicks: int = 0
    keys: int = 0
    letters: int = 0

    def click(self, what: str | Locator) -> None:
        """Click what can be seen of it."""
        self._seen(what).click()
        self.clicks += 1

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)
        self.keys += len(keys)

    def write(self, what: str, text: str) -> None:
        """Type into a field, which is clicked first unless it has the focus."""
        field = self._seen(what)
        if not field.evaluate("field => field === document.activeElement"):
            self.click(what)
        field.press_sequentially(text)
        self.letters += len(text)

    def choose(self, what: str, value: str) -> None:
        """Open a list and choose of it."""
        self._seen(what).select_option(value)
        self.clicks += 2

    def find(self, text: str, name: str) -> None:
        """Find a record by the palette: type a part of it, go down to its name."""
        self.press("/")
        self.write("#palette input", text)
        found = self.page.locator("#palette-found li")
        expect(found.filter(has_text=name).first).to_be_visible()
        names = found.all_inner_texts()
        self.press(*["ArrowDown"] * next(at for at, each in enumerate(names) if name in each))
        self.press("Enter")
        self.page.wait_for_url(re.compile(r"/\d+$"))

    def menu(self, path: str) -> None:
        """Go to a page by the menu."""
        self.click(f"#menu a[href='/admin/{path}']")
        self.page.wait_for_url(f"**/admin/{path}")

    def step(self, value: str) -> None:
        """Press the button of a step."""
        self.click(f"main button[name=step][value='{value}']")

    def open_step(self, value: str) -> None:
        """Open the form of a step, and send it as it is filled in."""
        form = f"details.step:not(.menu):has([name=step][value='{value}'])"
        self.click(f"main {form} > summary")
        self.click(f"main {form} button.main")

    def sees(self, text: str | re.Pattern[str]) -> None:
        """The page shows it in its content."""
        expect(self.page.locator("main")).to_contain_text(text)

    def _seen(self, what: str | Locator) -> Locator:
        located = self.page.locator(what) if isinstance(what, str) else what
        return located.locator("visible=true").first


@dataclass(frozen=True)
class Task:
    """A task of a role, and how it is done."""

    role: str
    name: str
    do: Callable[[Hands], None]


TASKS: list[Task] = []


def task(role: str, name: str) -> Callable[[Callable[[Hands], None]], Callable[[Hands], None]]:
    """Declare a task of a role."""

    def declare(do: Callable[[Hands], None]) -> Callable[[Hands], None]:
        TASKS.append(Task(role, name, do))
        return do

    return declare


SAVE = "main form .actions button.main"


@task("Sales", "Enter a lead: first and last name, company, e-mail address")
def enter_lead(hands: Hands) -> None:
    hands.menu("leads/")
    hands.press("c")
    hands.write("[name=firstName]", "Ada")
    hands.press("Tab")
    hands.write("[name=lastName]", "Berg")
    hands.press("Tab")
    hands.write("[name=company]", "Acme")
    hands.write("[name=email]", "berg@acme.example")
    hands.press("Enter")
    hands.sees("berg@acme.example")


@task("Sales", "Find a lead by name, and qualify it")
def qualify_lead(hands: Hands) -> None:
    hands.find("zorn", "Zorn")
    hands.step("status:Qualified")
    expect(hands.page.locator("main a[href$='/convert']")).to_be_visible()


@task("Sales", "Convert a qualified lead to a client with a deal")
def convert_lead(hands: Hands) -> None:
    hands.find("zorn", "Zorn")
    hands.click("main a[href$='/convert']")
    hands.click("[name=createOpportunity]")
    hands.click(SAVE)
    hands.sees("Zorn Pumps")


@task("Sales", "Move a deal to the next stage on the board")
def move_deal(hands: Hands) -> None:
    hands.menu("opportunities/")
    hands.click("main a[href='/admin/opportunities/board']")
    target = hands.page.locator(".stage[data-stage=Negotiation]")
    hands.page.locator(".deal", has_text="Rollout").drag_to(target)
    hands.clicks += 1
    expect(target).to_contain_text("Rollout")


@task("Sales", "Mark a deal as won")
def win_deal(hands: Hands) -> None:
    hands.find("rollout", "Rollout")
    hands.open_step("stage:ClosedWon")
    hands.sees(re.compile("Won|Gewonnen"))


@task("Accountant", "Write an invoice of two lines of the price list, and send it")
def write_invoice(hands: Hands) -> None:
    hands.menu("invoices/")
    hands.press("c")
    hands.write("[name=clientId]", "Polaris")
    hands.write("[name='line.0.productId']", "CABLE")
    hands.write("[name='line.1.productId']", "HOUR")
    hands.write("[name='line.1.quantity']", "3")
    hands.press("Enter")
    hands.click("main a[href$='/send']")
    hands.click(SAVE)
    hands.sees(re.compile("Sent|Versendet"))


@task("Accountant", "Find an invoice by a part of its number, and register that it was paid")
def register_payment(hands: Hands) -> None:
    hands.find("00001", "INV-")
    hands.open_step("payment")
    hands.sees(re.compile("Paid|Bezahlt"))


@task("Accountant", "See which invoices are overdue")
def see_overdue(hands: Hands) -> None:
    hands.click("main .figures a[href$='view=Overdue']")
    hands.sees("Late Ltd")


@task("Accountant", "Credit an invoice in full")
def credit_invoice(hands: Hands) -> None:
    hands.find("00002", "INV-")
    hands.click("main details.menu > summary")
    hands.open_step("credit")
    hands.sees(re.compile(r"119[.,]00 EUR"))


@task("Accountant", "Send the drafts of a client at once")
def send_drafts(hands: Hands) -> None:
    hands.menu("invoices/")
    hands.write("main [name=q]", "Vega")
    hands.press("Enter")
    expect(hands.page.locator("main tbody tr")).to_have_count(2)
    hands.click("[data-pick-all]")
    hands.choose("#action", "send")
    hands.click("details.picked button:not([formmethod])")
    hands.click(SAVE)
    hands.page.wait_for_url("**/bulk/*")
    hands.sees("INV-")


@task("Support", "Take a new ticket: a canned answer, and it waits for the customer")
def answer_ticket(hands: Hands) -> None:
    hands.click("main .due a:has-text('Broken pump')")
    hands.choose("#answer", "Received")
    hands.click("main button[name=then][value=Pending]")
    expect(hands.page.locator("main .facts.short")).to_contain_text("Vega")


@task("Support", "Enter a ticket of a client who calls")
def enter_ticket(hands: Hands) -> None:
    hands.menu("tickets/")
    hands.press("c")
    hands.write("[name=subject]", "No water")
    hands.write("[name=clientId]", "Polaris")
    hands.press("Enter")
    hands.sees("No water")


@task("Support", "Answer a ticket of one's own, and solve it")
def solve_ticket(hands: Hands) -> None:
    hands.click("main .due a:has-text('Slow pump')")
    hands.write("#body", "Cleaned.")
    hands.click("main button[name=then][value=Solved]")
    hands.sees("Cleaned.")


@task("Support", "Link the article that helps to a ticket")
def link_article(hands: Hands) -> None:
    hands.click("main .due a:has-text('Leaking pump')")
    hands.click("#help form button")
    hands.sees("A pump that leaks")


@task("Support", "Make a ticket urgent in the list")
def make_urgent(hands: Hands) -> None:
    hands.menu("tickets/")
    row = "main tr:has-text('Wet floor')"
    hands.page.locator(f"{row} [data-edit=priority]").dblclick()
    hands.clicks += 2
    hands.choose("td.open select", "Urgent")
    hands.press("Enter")
    expect(hands.page.locator(f"{row} [data-edit=priority]")).to_contain_text(
        re.compile("Urgent|Dringend")
    )


def prepare(role: str) -> None:
    """Make a person of the role, and what the tasks of the role begin with."""
    with transaction(), acting_as(system_caller("test")):
        person = create_user(
            username=role.lower(), email=None, display_name="Vega", password=PASSWORD,
            roles=[role],
        )  # fmt: skip
        polaris = make_client(name="Polaris", email="office@polaris.example", owner_id=person)
        if role == "Sales":
            make_lead(company="Zorn Pumps", last_name="Zorn", owner_id=person)
            make_opportunity(name="Rollout", client_id=polaris, stage="Proposal", owner_id=person)
        elif role == "Accountant":
            make_product(name="Cable", sku="CABLE")
            make_product(name="Hour", sku="HOUR")
            make_issued_invoice(client_id=polaris)
            late = make_issued_invoice(client_id=make_client(name="Late Ltd"))
            put(
                "Invoice",
                late,
                due_date=today() - timedelta(days=9),
                issue_date=today() - timedelta(days=40),
            )
            vega = make_client(name="Vega Ltd", email="office@vega.example")
            make_invoice(client_id=vega)
            make_invoice(client_id=vega)
        else:
            _prepare_tickets(person)


def _prepare_tickets(person: int) -> None:
    given = {"requester_email": "eva@polaris.example", "channel": "Email"}
    make_ticket(subject="Broken pump", description="It hums.", **given)
    make_ticket(subject="Slow pump", assignee_id=person, **given)
    make_ticket(subject="Leaking pump", assignee_id=person, **given)
    make_ticket(subject="Wet floor", **given)
    article = make_article(title="A pump that leaks", body="Close the valve of the leaking pump.")
    for status in ("InReview", "Published"):
        update("KbArticle", article, status=status)


def counts_said() -> dict[str, tuple[int, int, int]]:
    """Task -> clicks, keys and letters that it takes, as the guide of the console says."""
    rows = re.findall(
        r"^\| (?:Sales|Accountant|Support) \| (.+?) \| (\d+) \| (\d+) \| (\d+) \| [\d, ]+ \|$",
        DOCS.read_text(encoding="utf-8"), re.MULTILINE,
    )  # fmt: skip
    return {name: (int(clicks), int(keys), int(letters)) for name, clicks, keys, letters in rows}
