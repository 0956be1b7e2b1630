"""The amounts of an invoice, by the rules of EN 16931: pure functions over exact decimals.

    subtotal       = sum of the lines, net                        BR-CO-10
    discount_total = discount on the document, net, by tax group  BR-CO-11
    net            = subtotal - discount_total                    BR-CO-13
    tax_total      = sum of the tax of the groups                 BR-CO-14
    total          = net + tax_total                              BR-CO-15
    amount_due     = total - paid - credited                      BR-CO-16
    tax of a group = taxable x rate, rounded half up              BR-CO-17

Where prices include tax, amounts are worked out from the gross, and the total is the sum that the
customer saw, always. Some gross amounts (9.99 at 19 %) have no net amount whose rounded tax brings
it back to them: there the tax of the group is a cent beside BR-CO-17, within the tolerance of its
official check (docs/adr/0029).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from app.money import ZERO, rounded, unit


@dataclass(frozen=True, kw_only=True)
class Line:
    """What is billed by one line; rates and discounts in percent."""

    quantity: Decimal
    unit_price: Decimal
    discount_percent: Decimal = Decimal(0)
    tax_rate: Decimal = Decimal(0)
    tax_category: str = "S"


@dataclass(frozen=True, kw_only=True)
class LineAmounts:
    """The amounts of a line. ``line_subtotal`` and ``discount_amount`` are gross with gross prices.

    ``line_total`` is net plus tax; the tax of a line is for information, the group's is owed.
    """

    line_subtotal: Decimal
    discount_amount: Decimal
    line_net: Decimal
    tax_amount: Decimal
    line_total: Decimal


@dataclass(frozen=True, kw_only=True)
class TaxGroup:
    """The lines of one category and rate: what is taxed, and the tax."""

    tax_category: str
    tax_rate: Decimal
    net: Decimal
    discount: Decimal
    taxable: Decimal
    tax: Decimal


@dataclass(frozen=True, kw_only=True)
class Totals:
    """All amounts of an invoice."""

    lines: tuple[LineAmounts, ...]
    groups: tuple[TaxGroup, ...]
    subtotal: Decimal
    discount_total: Decimal
    tax_total: Decimal
    total: Decimal


def compute_totals(
    lines: Sequence[Line],
    *,
    currency: str,
    discount_percent: Decimal = Decimal(0),
    prices_include_tax: bool,
) -> Totals:
    """The amounts of an invoice with these lines and a discount on all of it.

    All are in whole smallest units of ``currency``.
    """
    subtotals = [rounded(line.quantity * line.unit_price, currency) for line in lines]
    discounts = [
        rounded(subtotal * line.discount_percent / 100, currency)
        for line, subtotal in zip(lines, subtotals, strict=True)
    ]
    # In the terms of the prices: net, or gross where they include tax.
    priced = [subtotal - less for subtotal, less in zip(subtotals, discounts, strict=True)]
    members: dict[tuple[str, Decimal], list[int]] = {}
    for position, line in enumerate(lines):
        members.setdefault((line.tax_category, line.tax_rate), []).append(position)
    sums = [sum((priced[index] for index in places), Decimal(0)) for places in members.values()]
    discount = rounded(sum(sums, Decimal(0)) * discount_percent / 100, currency)
    shares = spread(discount, sums, currency)
    nets = list(priced)
    groups = []
    for (key, places), priced_sum, share in zip(members.items(), sums, shares, strict=True):
        category, rate = key
        net, discount = priced_sum, share
        tax = rounded((priced_sum - share) * rate / 100, currency)
        if prices_include_tax:
            net = net_of_gross(priced_sum, rate, currency)
            taxable = net_of_gross(priced_sum - share, rate, currency)
            discount, tax = net - taxable, priced_sum - share - taxable
            parts = spread(net, [priced[index] for index in places], currency)
            for position, part in zip(places, parts, strict=True):
                nets[position] = part
        groups.append(
            TaxGroup(
                tax_category=category, tax_rate=rate, net=net, discount=discount,
                taxable=net - discount, tax=tax,
            )
        )  # fmt: skip
    taxes = [
        priced_amount - net if prices_include_tax else rounded(net * line.tax_rate / 100, currency)
        for line, priced_amount, net in zip(lines, priced, nets, strict=True)
    ]
    return _add_up(subtotals, discounts, nets, taxes, groups)


def _add_up(
    subtotals: Sequence[Decimal],
    discounts: Sequence[Decimal],
    nets: Sequence[Decimal],
    taxes: Sequence[Decimal],
    groups: Sequence[TaxGroup],
) -> Totals:
    amounts = tuple(
        LineAmounts(
            line_subtotal=subtotal, discount_amount=discount,
            line_net=net, tax_amount=tax, line_total=net + tax,
        )
        for subtotal, discount, net, tax in zip(subtotals, discounts, nets, taxes, strict=True)
    )  # fmt: skip
    nothing = ZERO if not groups else Decimal(0)
    subtotal = sum((group.net for group in groups), nothing)
    discount_total = sum((group.discount for group in groups), nothing)
    tax_total = sum((group.tax for group in groups), nothing)
    return Totals(
        lines=amounts,
        groups=tuple(groups),
        subtotal=subtotal,
        discount_total=discount_total,
        tax_total=tax_total,
        total=subtotal - discount_total + tax_total,
    )


def spread(amount: Decimal, weights: Sequence[Decimal], currency: str) -> list[Decimal]:
    """``amount`` in whole smallest units over ``weights``, in proportion; the parts add up to it.

    The units that rounding down leaves go to the largest remainders, earlier ones first.
    """
    step = unit(currency)
    whole = sum(weights, Decimal(0))
    if not whole:
        return [step * 0 for _ in weights]
    exact = [amount * weight / whole for weight in weights]
    parts = [share.quantize(step, ROUND_DOWN) for share in exact]
    left = int((amount - sum(parts, Decimal(0))) / step)
    order = sorted(range(len(weights)), key=lambda index: (parts[index] - exact[index], index))
    for index in order[:left]:
        parts[index] += step
    return parts


def net_of_gross(gross: Decimal, rate: Decimal, currency: str) -> Decimal:
    """The net amount whose tax, rounded, brings it to ``gross``; a unit beside where none does.

    A net amount that does is less than half a unit from the quotient, so that it is its rounding;
    and at no more than 100 % the rounding is never more than a unit beside.
    """
    return rounded(gross * 100 / (100 + rate), currency)
