"""Closing the books, and what is done only in open ones, wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from flask import Flask

from app.db.engines import transaction
from app.errors import InvalidStateError, ValidationError
from app.http.security import acting_as, system_caller
from app.invoices.steps import issue_invoice, mark_uncollectible, void_invoice
from app.settings import save_settings
from app.settings.days import today
from tests.business import bind_services
from tests.factories import make_invoice, make_issued_invoice, pay

# What has not happened after so many seconds waits.
LONG_ENOUGH = 0.5
Step = Callable[[int], object]
STEPS: dict[str, tuple[Callable[[], int], Step]] = {
    "pay": (make_issued_invoice, lambda key: pay(key, "1")),
    "pay a draft": (make_invoice, lambda key: pay(key, "1")),
    "void": (make_issued_invoice, lambda key: void_invoice(key, "no")),
    "write off": (make_issued_invoice, mark_uncollectible),
    "issue": (make_invoice, issue_invoice),
}
OF_STEPS = pytest.mark.parametrize(("make", "step"), STEPS.values(), ids=STEPS)
Elsewhere = Callable[[Callable[[], object]], "Future[None]"]


@pytest.fixture
def elsewhere(app: Flask) -> Iterator[Elsewhere]:
    """``elsewhere(act)`` acts in a thread and a transaction of its own."""
    bind_services(app)

    def run(act: Callable[[], object]) -> None:
        with app.app_context(), acting_as(system_caller()), transaction():
            act()

    with ThreadPoolExecutor(1) as pool:
        yield lambda act: pool.submit(run, act)


def make_one(app: Flask, make: Callable[[], int]) -> int:
    with app.app_context(), acting_as(system_caller()), transaction():
        return make()


def close() -> None:
    """Close the books up to today."""
    save_settings("invoicing", {"closedUntil": today().isoformat()})


@OF_STEPS
def test_the_books_are_closed_after_what_was_begun(
    app: Flask, elsewhere: Elsewhere, make: Callable[[], int], step: Step
) -> None:
    key = make_one(app, make)
    with app.app_context(), acting_as(system_caller()), transaction():
        step(key)
        closing = elsewhere(close)
        assert not wait([closing], LONG_ENOUGH).done
    closing.result(30)


@OF_STEPS
def test_what_begins_while_the_books_are_closed_is_refused(
    app: Flask, elsewhere: Elsewhere, make: Callable[[], int], step: Step
) -> None:
    key = make_one(app, make)
    with app.app_context(), acting_as(system_caller()), transaction():
        close()
        stepping = elsewhere(lambda: step(key))
        assert not wait([stepping], LONG_ENOUGH).done
    with pytest.raises((ValidationError, InvalidStateError), match=r"closed|Date|date"):
        stepping.result(30)


def test_the_currency_changes_after_what_was_begun(app: Flask, elsewhere: Elsewhere) -> None:
    """And then no more: a document is issued in the one there was."""
    key = make_one(app, make_invoice)
    with app.app_context(), acting_as(system_caller()), transaction():
        issue_invoice(key)
        changing = elsewhere(lambda: save_settings("defaults", {"currency": "CHF"}))
        assert not wait([changing], LONG_ENOUGH).done
    with pytest.raises(InvalidStateError, match="currency"):
        changing.result(30)
