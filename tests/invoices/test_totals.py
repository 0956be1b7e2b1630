"""The sum rules of EN 16931 hold for any lines, discounts, mixes of tax and currencies."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings, strategies as st

from app.invoices.totals import Line, Totals, compute_totals, net_of_gross, spread
from app.money import is_whole, rounded, unit

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
# No smaller unit, hundredths, thousandths (ISO 4217).
currencies = st.sampled_from(["JPY", "EUR", "KWD"])
discounts = st.one_of(st.just(Decimal(0)), decimals("0", "100", 2))


def check_sums(totals: Totals, currency: str, tolerance: Decimal = Decimal(0)) -> None:
    assert totals.subtotal == sum(line.line_net for line in totals.lines)  # BR-CO-10
    assert totals.discount_total == sum(group.discount for group in totals.groups)  # BR-CO-11
    net = totals.subtotal - totals.discount_total  # BR-CO-13
    assert net == sum(group.taxable for group in totals.groups)
    assert totals.tax_total == sum(group.tax for group in totals.groups)  # BR-CO-14
    assert totals.total == net + totals.tax_total  # BR-CO-15
    for group in totals.groups:
        beside = group.tax - rounded(group.taxable * group.tax_rate / 100, currency)
        assert abs(beside) <= tolerance  # BR-CO-17
        assert group.tax >= 0
        assert group.taxable == group.net - group.discount
        assert group.taxable >= 0
        assert group.discount >= 0
    for line in totals.lines:
        assert line.line_total == line.line_net + line.tax_amount
        for amount in vars(line).values():
            assert is_whole(amount, currency)


@settings(deadline=None)
@given(lines=lines, discount=discounts, gross=st.booleans(), currency=currencies)
def test_the_sum_rules_hold(
    lines: list[Line], discount: Decimal, gross: bool, currency: str
) -> None:
    totals = compute_totals(
        lines, currency=currency, discount_percent=discount, prices_include_tax=gross
    )
    check_sums(totals, currency, unit(currency) if gross else Decimal(0))
    keys = [(line.tax_category, line.tax_rate) for line in lines]
    assert [(group.tax_category, group.tax_rate) for group in totals.groups] == list(
        dict.fromkeys(keys)
    )
    for key, group in zip(dict.fromkeys(keys), totals.groups, strict=True):
        members = [place for place, other in enumerate(keys) if other == key]
        assert group.net == sum(totals.lines[place].line_net for place in members)


@settings(deadline=None)
@given(lines=lines, currency=currencies)
def test_net_prices_give_their_own_nets(lines: list[Line], currency: str) -> None:
    totals = compute_totals(lines, currency=currency, prices_include_tax=False)
    for line, amounts in zip(lines, totals.lines, strict=True):
        assert amounts.line_subtotal == rounded(line.quantity * line.unit_price, currency)
        assert amounts.line_net == amounts.line_subtotal - amounts.discount_amount
        off = amounts.line_subtotal * line.discount_percent / 100
        assert amounts.discount_amount == rounded(off, currency)
        assert amounts.tax_amount == rounded(amounts.line_net * line.tax_rate / 100, currency)


@settings(deadline=None)
@given(lines=lines, discount=discounts, currency=currencies)
def test_gross_prices_add_up_to_what_the_customer_saw(
    lines: list[Line], discount: Decimal, currency: str
) -> None:
    totals = compute_totals(
        lines, currency=currency, discount_percent=discount, prices_include_tax=True
    )
    shown = sum((amounts.line_subtotal - amounts.discount_amount) for amounts in totals.lines)
    asked = shown - rounded(shown * discount / 100, currency)
    assert totals.total == asked
    for amounts in totals.lines:
        assert amounts.line_total == amounts.line_subtotal - amounts.discount_amount


@settings(deadline=None)
@given(lines=lines, discount=discounts, currency=currencies)
def test_the_discount_is_the_percentage_of_the_sum(
    lines: list[Line], discount: Decimal, currency: str
) -> None:
    totals = compute_totals(
        lines, currency=currency, discount_percent=discount, prices_include_tax=False
    )
    assert totals.discount_total == rounded(totals.subtotal * discount / 100, currency)


@settings(deadline=None)
@given(
    units=st.integers(0, 10**7),
    weights=st.lists(decimals("0", "100000", 2), min_size=1, max_size=20),
    currency=currencies,
)
def test_spread_parts_add_up_and_stay_near_their_share(
    units: int, weights: list[Decimal], currency: str
) -> None:
    amount = units * unit(currency)
    parts = spread(amount, weights, currency)
    whole = sum(weights)
    assert sum(parts) == (amount if whole else 0)
    for part, weight in zip(parts, weights, strict=True):
        assert not whole or abs(part - amount * weight / whole) < unit(currency)


@settings(deadline=None)
@given(units=st.integers(0, 10**7), rate=st.sampled_from(RATES), currency=currencies)
def test_net_of_gross_is_the_nearest_there_is(units: int, rate: Decimal, currency: str) -> None:
    step = unit(currency)
    gross = units * step
    net = net_of_gross(gross, rate, currency)

    def off(candidate: Decimal) -> Decimal:
        return abs(candidate + rounded(candidate * rate / 100, currency) - gross)

    assert off(net) <= step
    near = [net + step * place for place in range(-3, 4)]
    assert off(net) == min(off(candidate) for candidate in near if candidate >= 0)


@pytest.mark.parametrize(
    ("gross", "rate", "net"),
    [("119.00", "19", "100.00"), ("10.00", "19", "8.40"), ("0.01", "19", "0.01"),
     ("107.00", "7", "100.00"), ("0.00", "19", "0.00"), ("9.99", "0", "9.99")],
)  # fmt: skip
def test_known_nets(gross: str, rate: str, net: str) -> None:
    assert net_of_gross(Decimal(gross), Decimal(rate), "EUR") == Decimal(net)


def test_tax_is_rounded_once_for_each_group_and_not_for_each_line() -> None:
    """Three lines of 0.33 at 19 %: 0.19 tax on 0.99, where line by line it would be 0.18."""
    line = Line(quantity=Decimal(1), unit_price=Decimal("0.33"), tax_rate=Decimal(19))
    totals = compute_totals([line] * 3, currency="EUR", prices_include_tax=False)
    assert (totals.subtotal, totals.tax_total, totals.total) == (
        Decimal("0.99"), Decimal("0.19"), Decimal("1.18"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("currency", "quantity", "price", "rate", "total"),
    [("KWD", "3", "1.2345", "5", "3.889"), ("JPY", "1", "50000.55", "10", "55001"),
     ("EUR", "3", "1.2345", "5", "3.89")],
)  # fmt: skip
def test_amounts_have_the_digits_of_their_currency(
    currency: str, quantity: str, price: str, rate: str, total: str
) -> None:
    line = Line(quantity=Decimal(quantity), unit_price=Decimal(price), tax_rate=Decimal(rate))
    totals = compute_totals([line], currency=currency, prices_include_tax=False)
    assert str(totals.total) == total


def test_halves_are_rounded_up() -> None:
    line = Line(quantity=Decimal("0.5"), unit_price=Decimal("0.01"), tax_rate=Decimal(0))
    assert compute_totals([line], currency="EUR", prices_include_tax=False).total == Decimal("0.01")


@pytest.mark.parametrize("price", ["9.99", "0.03", "19.99", "0.01", "49.95", "1234.56"])
def test_a_price_with_tax_is_what_is_paid(price: str) -> None:
    line = Line(quantity=Decimal(1), unit_price=Decimal(price), tax_rate=Decimal(19))
    totals = compute_totals([line], currency="EUR", prices_include_tax=True)
    assert totals.total == Decimal(price)
    check_sums(totals, "EUR", Decimal("0.01"))


def test_no_lines_cost_nothing() -> None:
    totals = compute_totals(
        [], discount_percent=Decimal(10), currency="EUR", prices_include_tax=False
    )
    assert (totals.lines, totals.groups) == ((), ())
    for amount in (totals.subtotal, totals.discount_total, totals.tax_total, totals.total):
        assert str(amount) == "0.00"
