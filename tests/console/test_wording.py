"""Values as people read them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from app.console import wording
from app.console.area import ASSETS
from app.localisation.catalogue import COLUMN, text_as, text_in
from app.writing.transitions import MACHINES
from tests.console.catalogue import HEADS


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (7_199, "1 hour"),
     (7_200, "2 hours"), (86_399, "23 hours"), (86_400, "1 day"), (432_000, "5 days")],
)  # fmt: skip
def test_a_time_is_told_in_its_largest_unit(seconds: int, text: str) -> None:
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "type_", "name", "text"),
    [
        (2026, "integer", "year", "2026"),
        (2026, "integer", "count", '<data value="2026">2,026</data>'),
        (12.5, "percent", "share", '<data value="12.50">12.50</data> %'),
        ("2026-11-21", "date", "day", '<time datetime="2026-11-21">21 Nov 2026</time>'),
        ("2026-11", "date", "month", "2026-11"),
        ("2026-11-21T08:15:00Z", "instant", "at",
         '<time datetime="2026-11-21T08:15:00+00:00">21 Nov 2026, 08:15</time>'),
        (None, "money", "total", '<span class="none">&mdash;</span>'),
        (True, "boolean", "isOverdue", "Yes"),
        ("<b>", "string", "name", "<b>"),
        ("n/a", "money", "total", "n/a"),
    ],
)  # fmt: skip
def test_a_figure_of_a_report_is_shown_as_its_type(
    value: Any, type_: str, name: str, text: str
) -> None:
    assert str(wording.figure(value, type_, name)) == text


@pytest.mark.parametrize(
    ("state", "text"), [("ClosedWon", "Closed Won"), ("directDebit", "direct debit")]
)
def test_a_state_is_told_in_words(state: str, text: str) -> None:
    assert wording.words(state) == text


def test_json_is_indented_with_its_numbers_as_they_are_written() -> None:
    assert wording.json_shown('{"total":1.10,"n":5}') == '{\n  "total": 1.10,\n  "n": 5\n}'
    assert wording.json_shown("<html>") == "<html>"
    assert wording.indented({"at": Decimal("2.50"), 7: {1}}).startswith('{\n  "at": 2.50,\n  "7"')


@pytest.mark.parametrize(
    ("name", "text"),
    [("dueDate", "Due date"), ("clientId", "Client"), ("taxId", "Tax ID"),
     ("eInvoiceFormat", "E-invoice format"), ("seconds", "Time before"), ("id", "ID")],
)  # fmt: skip
def test_a_property_is_called_as_people_do(name: str, text: str) -> None:
    assert wording.label(name) == text


@pytest.mark.parametrize("entity", MACHINES)
def test_every_state_means_something_that_is_told_without_colour_too(entity: str) -> None:
    style = (ASSETS / "console.css").read_text(encoding="utf-8")
    steps = MACHINES[entity].transitions
    for state in {state for step in steps for state in (*step.sources, step.target)}:
        tone = wording.tone(state)
        assert tone != "plain", state
        assert f'.badge.{tone}::before {{ content:"' in style


def test_what_is_made_sent_part_paid_paid_and_void_is_told_apart() -> None:
    states = ("Draft", "Sent", "PartiallyPaid", "Paid", "Void")
    assert len({*map(wording.tone, states), "bad"}) == 6  # an overdue one is bad


@pytest.mark.parametrize(
    ("name", "value", "address"),
    [
        ("email", "a+b@acme.example", "mailto:a%2Bb@acme.example"),
        ("requesterEmail", "a@b.example?cc=c@d.example", "mailto:a@b.example%3Fcc%3Dc@d.example"),
        ("phone", "+44 20 3342-7795", "tel:+442033427795"), ("mobile", "none", ""),
        ("website", "https://acme.example/", "https://acme.example/"),
        ("website", "javascript:alert(1)", ""), ("website", "acme.example", ""),
        ("name", "a@b.example", ""), ("email", None, ""), ("phone", 7, ""),
    ],
)  # fmt: skip
def test_who_is_named_is_reached_by_a_click(name: str, value: Any, address: str) -> None:
    assert wording.reached_at(name, value) == address


@pytest.mark.parametrize("text", HEADS)
def test_what_means_something_else_at_the_head_of_a_column_has_other_words(text: str) -> None:
    assert text_as("de", COLUMN, text) != text_in("de", text)
    assert text_as("en", COLUMN, text) == text
    assert text_as("de", COLUMN, "Currency") == text_in("de", "Currency")


def test_an_address_breaks_behind_its_signs_and_stays_text() -> None:
    assert wording.in_parts("a@b.example") == "a@<wbr>b.<wbr>example"
    assert wording.in_parts("<b>@c") == "&lt;b&gt;@<wbr>c"
