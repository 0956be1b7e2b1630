"""What stands where: repeated titles, sums carried over, marks of state, nothing outside."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from app.invoices.document import CreditedInvoice, PaymentEntry
from app.invoices.pdf import style
from app.invoices.pdf.drawing import PAGE_HEIGHT, PAGE_WIDTH, Modules, Page, Picture, Text
from app.invoices.pdf.render import lay_out
from app.invoices.samples import logo
from tests.invoices.documents import documents, make_document, make_line
from tests.invoices.pdf.generated_documents import ALL_SAMPLES as SAMPLES
from tests.invoices.pdf.reading import texts_on

PAID = PaymentEntry(paid_on=date(2026, 3, 9), amount=Decimal("100.00"), method="card")


def assert_inside(pages: list[Page]) -> None:
    for page in pages:
        for mark in page.marks:
            if isinstance(mark, Text) and not mark.angle:
                right = mark.x + mark.shaped.width_at(mark.size)
                assert mark.x >= style.LEFT - 1 and right <= style.RIGHT + 1
                assert 0 < mark.y < PAGE_HEIGHT - 10
            elif isinstance(mark, Text):
                assert 0 < mark.x < PAGE_WIDTH and 0 < mark.y < PAGE_HEIGHT


def test_titles_and_sums_go_on_from_page_to_page() -> None:
    lines = [make_line(description=f"Line {n}", unit_price=Decimal(n)) for n in range(1, 101)]
    pages = lay_out(make_document(lines))
    assert len(pages) == 4
    shown = [texts_on(page) for page in pages]
    carried = Decimal(0)
    for number, texts in enumerate(shown, start=1):
        assert "Description" in texts
        assert f"Page {number} of 4" in texts
        rows = [text for text in texts if text.startswith("Line ")]
        assert rows
        if number > 1:
            assert texts[texts.index("Brought forward") + 1] == f"{carried:,.2f}"
        carried += sum(Decimal(row.removeprefix("Line ")) for row in rows)
        if number < 4:
            assert texts[texts.index("Carried forward") + 1] == f"{carried:,.2f}"
    assert carried == 5050
    assert "Subtotal" in shown[-1] and "Total" in shown[-1]


@pytest.mark.parametrize("count", range(14, 26))
def test_totals_never_stand_alone(count: int) -> None:
    """Whatever the number of lines, the page of the total has a line too."""
    lines = [make_line(description=f"Line {number}") for number in range(count)]
    page = next(page for page in map(texts_on, lay_out(make_document(lines))) if "Total" in page)
    assert f"Line {count - 1}" in page


def test_a_row_higher_than_a_page_goes_on_and_its_amount_is_carried() -> None:
    long = "\n".join(f"Part {number}" for number in range(40)) + " word" * 600
    lines = [make_line(), make_line(description=long, unit_price=Decimal(900))]
    pages = lay_out(make_document(lines))
    assert len(pages) > 1
    first, second = texts_on(pages[0]), texts_on(pages[1])
    assert first[first.index("Carried forward") + 1] == "1,000.00"
    assert second[second.index("Brought forward") + 1] == "1,000.00"
    assert sum(text.startswith("Part ") for text in first + second) == 40
    assert_inside(pages)


@settings(max_examples=settings().max_examples // 2, deadline=None)
@given(document=documents(), state=st.sampled_from(["Draft", "Issued", "Paid", "Void"]))
def test_nothing_stands_outside_the_margins(document: object, state: str) -> None:
    assert_inside(lay_out(document))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_stay_inside(name: str) -> None:
    assert_inside(lay_out(SAMPLES[name]()))


@pytest.mark.parametrize(
    ("language", "state", "mark"),
    [("en", "Draft", "DRAFT"), ("de", "Draft", "ENTWURF"), ("fr", "Void", "ANNULÉE"),
     ("ru", "Paid", "ОПЛАЧЕНО"), ("pl", "Paid", "ZAPŁACONO")],
)  # fmt: skip
def test_the_state_is_marked(language: str, state: str, mark: str) -> None:
    settled = {"payments": (PAID,), "amount_due": Decimal(0)}
    (page,) = lay_out(make_document(language=language, state=state, **settled))
    turned = [found for found in page.marks if isinstance(found, Text) and found.angle]
    assert mark in {"".join(text for run in found.shaped.runs for text in run.texts)
                    for found in turned}  # fmt: skip


def test_an_issued_invoice_has_no_mark() -> None:
    (page,) = lay_out(make_document())
    assert not any(isinstance(mark, Text) and mark.angle for mark in page.marks)


def test_draft_and_void_are_marked_on_every_page() -> None:
    for page in lay_out(make_document([make_line()] * 60, state="Draft")):
        first = page.marks[0]
        assert isinstance(first, Text) and first.angle  # under everything else


def test_a_credit_note_says_what_it_corrects_and_asks_for_nothing() -> None:
    credited = CreditedInvoice(number="INV-2026-00001", issue_date=date(2026, 1, 31))
    (page,) = lay_out(make_document(type="CreditNote", credited=credited, number="CN-1"))
    texts = texts_on(page)
    assert "Credit note" in texts and "Credit total" in texts
    assert "This credit note corrects invoice INV-2026-00001 of Jan 31, 2026." in texts
    assert "This amount is credited to you." in texts
    assert not any("Please pay" in text for text in texts)
    assert not any(isinstance(mark, Modules) for mark in page.marks)


def test_payments_are_told_and_what_is_left() -> None:
    payment = PaymentEntry(paid_on=date(2026, 3, 9), amount=Decimal("19.00"), method="card")
    (page,) = lay_out(make_document(payments=(payment,)))
    texts = texts_on(page)
    assert texts[texts.index("Paid Mar 9, 2026 (card)") + 1] == "-€19.00"
    assert texts[texts.index("Amount due") + 1] == "€100.00"


@pytest.mark.parametrize(
    ("values", "is_receipt"),
    [
        ({"payments": (PAID,)}, True),
        ({"payments": (PAID,), "amount_credited": Decimal(19)}, True),
        ({"amount_credited": Decimal(119)}, False),
        ({}, False),
    ],
    ids=["by money", "by both", "by a credit note", "with nothing to pay"],
)
def test_only_money_is_receipted(values: dict[str, Any], is_receipt: bool) -> None:
    """What a credit note settled says so, and does not thank for a payment."""
    (page,) = lay_out(make_document(state="Paid", amount_due=Decimal(0), **values))
    texts = texts_on(page)
    assert ("PAID" in texts, "Paid in full. Thank you." in texts) == (is_receipt, is_receipt)
    assert not any("Please pay" in text for text in texts)


def test_gross_prices_add_up_to_the_total() -> None:
    line = make_line(unit_price=Decimal("9.99"), quantity=Decimal(3))
    (page,) = lay_out(make_document([line], prices_include_tax=True))
    texts = texts_on(page)
    assert "All amounts in EUR  ·  Prices include VAT" in texts
    assert texts[texts.index("Total") + 1] == "€29.97"
    assert "Rounding" not in texts
    assert texts[texts.index("VAT 19% included, on €25.18") + 1] == "€4.79"


def test_a_discount_column_is_there_only_if_a_line_has_one() -> None:
    without, having = (
        texts_on(lay_out(make_document([make_line(discount_percent=Decimal(percent))]))[0])
        for percent in (0, 10)
    )
    assert "Discount" not in without
    assert "Discount" in having and "10%" in having


def test_the_reason_for_no_tax_is_told() -> None:
    line = make_line(
        tax_category="AE", tax_rate=Decimal(0), tax_exemption_reason="Art. 196 2006/112/EC"
    )
    texts = texts_on(lay_out(make_document([line]))[0])
    assert "Reverse charge: €100.00" in texts
    assert "Reverse charge: Art. 196 2006/112/EC" in texts


def test_the_logo_is_drawn_in_its_proportions() -> None:
    (page,) = lay_out(make_document(logo=logo()))
    (picture,) = [mark for mark in page.marks if isinstance(mark, Picture)]
    assert picture.width / picture.height == pytest.approx(720 / 200, rel=0.01)
    assert picture.width <= style.LOGO_WIDTH and picture.height <= style.LOGO_HEIGHT
