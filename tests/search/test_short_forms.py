"""Short forms find what they stand for, where the texts themselves or the file explain them."""

from __future__ import annotations

import pytest

from app.search.entries import make_entry
from app.search.index import Entry, Index, Segment
from app.search.short_forms import short_forms

TEXTS = {
    1: ("Service level agreements", "How fast we answer depends on the plan."),
    2: ("Answering times", "Every contract has a Service Level Agreement. It is kept by the team."),
    3: ("Holidays", "The return on investment is told monthly. A return on investment is a ratio."),
    4: ("Tax", "Enter the value added tax (VAT) of the country."),
    5: ("Signing in", "The password is changed on the page of the profile."),
    6: ("Printers", "Switch it off and on again. HTML and SVG. HTML and SVG are drawn."),
    7: ("Power over Ethernet", "Connect the PoE adapter. Paper or envelopes, paper or envelopes."),
}


@pytest.fixture(scope="module")
def index() -> Index:
    """The texts, by words alone."""
    entries = []
    for key, (title, text) in TEXTS.items():
        columns = make_entry(title, text, "en", None)
        entries.append(Entry(key, key, "en", None, columns.terms, columns.length, None))
    return Index([Segment(entries)])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is our sla", "service level agreement"), ("SLA", "service level agreements"),
        ("roi?", "return on investment"), ("vat", "value added tax"), ("reset my pw", "password"),
    ],
)  # fmt: skip
def test_what_a_short_form_stands_for_is_looked_for(
    index: Index, question: str, expected: str
) -> None:
    assert expected in index.spelled_out(question)


@pytest.mark.parametrize(
    "question", ["how do I sign in", "printer", "", "it has a PoE socket", "the page of the team"]
)
def test_other_questions_stay_as_they_are(index: Index, question: str) -> None:
    assert index.spelled_out(question) == question


def test_what_is_spelled_out_by_chance_counts_for_nothing() -> None:
    assert short_forms("Pay", "cards are accepted. we like short notes.", "en") == []
