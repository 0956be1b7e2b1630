"""What is asked by tax rate or category is what the documents state, to the cent."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.bi.conftest import Ask
from tests.factories import line, make_client, make_issued_invoice


@pytest.fixture
def discounted(app: Flask) -> None:
    """Two invoices with a discount on the whole, whose lines round otherwise than their groups."""
    with app.app_context(), acting_as(system_caller()), transaction():
        for percent in ("10", "33.3"):
            lines = [line("0.13"), line("0.13"), line("99.99", tax_rate=Decimal(7))]
            make_issued_invoice(
                client_id=make_client(), line_items=lines, discount_percent=Decimal(percent)
            )


@pytest.mark.usefixtures("discounted")
@pytest.mark.parametrize(
    ("by_group", "whole"),
    [
        ("vat by rate", "vat this year"),
        ("net revenue by tax rate this year", "net revenue this year"),
        ("gross revenue by tax category", "gross revenue this year"),
        ("steuer nach steuerart", "steuer dieses jahr"),
    ],
)
def test_groups_add_up_to_the_documents(ask: Ask, by_group: str, whole: str) -> None:
    assert _sums(ask(by_group)) == _sums(ask(whole))
    assert "discounts" not in ask(by_group)["interpretation"]


def _sums(answer: dict[str, Any]) -> dict[str, Decimal]:
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in answer["rows"]:
        sums[row["currency"]] += row["amount"]
    return sums


@pytest.mark.usefixtures("discounted")
def test_what_names_a_product_is_of_the_lines(ask: Ask) -> None:
    answer = ask("vat by rate and product")
    assert "before discounts on the whole document" in answer["interpretation"]
