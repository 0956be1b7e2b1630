"""The sum rules of EN 16931 hold for any lines, discounts and mixes of tax."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st

from app.invoices.totals import CENT, Line, Totals, compute_totals, money, net_of_gross, spread

RATES = [Decimal(rate) for rate in ("0", "2.1", "5.5", "7", "8.1", "10", "19", "20", "21", "25")]


def decimals(low: str, high: str, places: int) -> st.SearchStrategy[Decimal]:
    return st.decimals(
        Decimal(low), Decimal(high), places=places, allow_nan=False, allow_infinity=False
    )


lines = st.lists(
    st.builds(
        Line,
        quantity=decimals("0.0001", "9999", 4),
        unit_price=decimals("0", "99999", 4),
        discount_percent=decimals("0", "100", 2),
        tax_rate=st.sampled_from(RATES),
        tax_category=st.sampled_from(["S", "Z", "AE"]),
    ),
    min_size=1,
    max_size=12,
)
discounts = st.one_of(st.just(Decimal(0)), decimals("0", "100", 2))


def check_sums(totals: Totals, tolerance: Decimal = Decimal(0)) -> None:
    assert totals.subtotal == sum(line.line_net for line in totals.lines)  # BR-CO-10
    assert totals.discount_total == sum(group.discount for group in totals.groups)  # BR-CO-11
    net = totals.subtotal - totals.discount_total  # BR-CO-13
    assert net == sum(group.taxable for group in totals.groups)
    assert totals.tax_total == sum(group.tax for group in totals.groups)  # BR-CO-14
    assert totals.total == net + totals.tax_total  # BR-CO-15
    for group in totals.groups:
        beside = group.tax - money(group.taxable * group.tax_rate / 100)
        assert abs(beside) <= tolerance  # BR-CO-17
        assert group.tax >= 0
        assert group.taxable == group.net - group.discount
        assert group.taxable >= 0
        assert group.discount >= 0
    for line in totals.lines:
        assert line.line_total == line.line_net + line.tax_amount
        for amount in vars(line).values():
            assert amount == amount.quantize(CENT)


@settings(max_examples=300, deadline=None)
@given(lines=lines, discount=discounts, gross=st.booleans())
def test_the_sum_rules_hold(lines: list[Line], discount: Decimal, gross: bool) -> None:
    totals = compute_totals(lines, discount_percent=discount, prices_include_tax=gross)
    check_sums(totals, CENT if gross else Decimal(0))
    keys = [(line.tax_category, line.tax_rate) for line in lines]
    assert [(group.tax_category, group.tax_rate) for group in totals.groups] == list(
        dict.fromkeys(keys)
    )
    for key, group in zip(dict.fromkeys(keys), totals.groups, strict=True):
        members = [place for place, other in enumerate(keys) if other == key]
        assert group.net == sum(totals.lines[place].line_net for place in members)


@settings(max_examples=300, deadline=None)
@given(lines=lines)
def test_net_prices_give_their_own_nets(lines: list[Line]) -> None:
    totals = compute_totals(lines, prices_include_tax=False)
    for line, amounts in zip(lines, totals.lines, strict=True):
        assert amounts.line_subtotal == money(line.quantity * line.unit_price)
        assert amounts.line_net == amounts.line_subtotal - amounts.discount_amount
        assert amounts.discount_amount == money(amounts.line_subtotal * line.discount_percent / 100)
        assert amounts.tax_amount == money(amounts.line_net * line.tax_rate / 100)


@settings(max_examples=300, deadline=None)
@given(lines=lines, discount=discounts)
def test_gross_prices_add_up_to_what_the_customer_saw(lines: list[Line], discount: Decimal) -> None:
    totals = compute_totals(lines, discount_percent=discount, prices_include_tax=True)
    shown = sum((amounts.line_subtotal - amounts.discount_amount) for amounts in totals.lines)
    asked = shown - money(shown * discount / 100)
    assert totals.total == asked
    for amounts in totals.lines:
        assert amounts.line_total == amounts.line_subtotal - amounts.discount_amount


@settings(max_examples=300, deadline=None)
@given(lines=lines, discount=discounts)
def test_the_discount_is_the_percentage_of_the_sum(lines: list[Line], discount: Decimal) -> None:
    totals = compute_totals(lines, discount_percent=discount, prices_include_tax=False)
    assert totals.discount_total == money(totals.subtotal * discount / 100)


@settings(max_examples=300, deadline=None)
@given(
    amount=decimals("0", "100000", 2),
    weights=st.lists(decimals("0", "100000", 2), min_size=1, max_size=20),
)
def test_spread_parts_add_up_and_stay_near_their_share(
    amount: Decimal, weights: list[Decimal]
) -> None:
    parts = spread(amount, weights)
    whole = sum(weights)
    assert sum(parts) == (amount if whole else 0)
    for part, weight in zip(parts, weights, strict=True):
        assert not whole or abs(part - amount * weight / whole) < CENT


@settings(max_examples=500, deadline=None)
@given(gross=decimals("0", "100000", 2), rate=st.sampled_from(RATES))
def test_net_of_gross_is_the_nearest_there_is(gross: Decimal, rate: Decimal) -> None:
    net = net_of_gross(gross, rate)

    def off(candidate: Decimal) -> Decimal:
        return abs(candidate + money(candidate * rate / 100) - gross)

    assert off(net) <= CENT
    assert off(net) == min(
        off(net + CENT * step) for step in range(-3, 4) if net + CENT * step >= 0
    )


@pytest.mark.parametrize(
    ("gross", "rate", "net"),
    [("119.00", "19", "100.00"), ("10.00", "19", "8.40"), ("0.01", "19", "0.01"),
     ("107.00", "7", "100.00"), ("0.00", "19", "0.00"), ("9.99", "0", "9.99")],
)  # fmt: skip
def test_known_nets(gross: str, rate: str, net: str) -> None:
    assert net_of_gross(Decimal(gross), Decimal(rate)) == Decimal(net)


def test_tax_is_rounded_once_for_each_group_and_not_for_each_line() -> None:
    """Three lines of 0.33 at 19 %: 0.19 tax on 0.99, where line by line it would be 0.18."""
    line = Line(quantity=Decimal(1), unit_price=Decimal("0.33"), tax_rate=Decimal(19))
    totals = compute_totals([line] * 3, prices_include_tax=False)
    assert (totals.subtotal, totals.tax_total, totals.total) == (
        Decimal("0.99"), Decimal("0.19"), Decimal("1.18"),
    )  # fmt: skip


def test_halves_are_rounded_up() -> None:
    line = Line(quantity=Decimal("0.5"), unit_price=Decimal("0.01"), tax_rate=Decimal(0))
    assert compute_totals([line], prices_include_tax=False).total == Decimal("0.01")


@pytest.mark.parametrize("price", ["9.99", "0.03", "19.99", "0.01", "49.95", "1234.56"])
def test_a_price_with_tax_is_what_is_paid(price: str) -> None:
    line = Line(quantity=Decimal(1), unit_price=Decimal(price), tax_rate=Decimal(19))
    totals = compute_totals([line], prices_include_tax=True)
    assert totals.total == Decimal(price)
    check_sums(totals, CENT)


def test_no_lines_cost_nothing() -> None:
    totals = compute_totals([], discount_percent=Decimal(10), prices_include_tax=False)
    assert (totals.lines, totals.groups) == ((), ())
    for amount in (totals.subtotal, totals.discount_total, totals.tax_total, totals.total):
        assert str(amount) == "0.00"
