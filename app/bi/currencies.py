"""Amounts of different currencies are never added up, ranked or parted as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from app.bi.plans.columns import group_name
from app.bi.plans.entities import Entity, Measure
from app.bi.plans.filtering import condition_text, steps_of
from app.bi.plans.plan import Condition, Figure, Plan
from app.bi.query import Query, Row, run
from app.bi.words.speech import Speech
from app.settings import organisation

# What an amount is multiplied by to be one in the currency of the organisation.
_RATE = "exchangeRate"
_MOST_CURRENCIES = 200


def in_one_currency(plan: Plan) -> Plan:
    """A ranking by amounts, over all currencies by what they are worth in that of the organisation.

    So is a share of amounts, and what is asked for in that currency. Each record is converted at
    the rate that it keeps, or else at the one of the settings (docs/adr/0043). What has
    no rate is left out, which the plan says among its assumptions. A question that names a currency
    stays within it.
    """
    money = _ranked_money(plan)
    if money is None or any(
        each.path == money and len(each.values) == 1 and not each.negated
        for each in plan.conditions
    ):
        return plan
    rate_table = _Rates(plan.entity, money, {})
    if plan.kind == "list" and rate_table.has_worth((plan.order or "").removesuffix(" desc")):
        own = organisation().defaults.currency
        return _ordered(plan, rate_table).with_assumption(
            "amounts are ranked by what they are worth in {currency}", currency=own
        )
    currencies = _currencies(plan, money)
    if len(currencies) < 2:
        return plan
    rates = _Rates(plan.entity, money, currencies)
    if len(rates.known) < 2:
        return _narrowed(plan, money, currencies)
    if plan.kind == "list":
        return rates.applied(_ordered(plan, rates))
    return _groups(plan, money, rates)


@dataclass(frozen=True)
class Worth:
    """Amounts with their currencies; ``is_converted``: it is one, of several currencies."""

    amounts: list[tuple[Decimal, str]]
    is_converted: bool = False


def amounts_of(plan: Plan) -> Worth:
    """What the amount of the records of a list adds up to.

    Several currencies add up to what they are worth in that of the organisation; each stands by
    itself where there is no rate.
    """
    entity, path = plan.entity, plan.amount
    money = entity.currency_of(path)
    if money is None:
        return Worth([])
    rates = _Rates(entity, money, {})
    value = rates.worth(path) if rates.is_kept else path
    computed = [f"{value} as worth"] if " " in value else []
    figures = f"{path} with sum as amount,{'worth' if computed else value} with sum as base"
    figures += f",{_RATE} with min as rate" if rates.is_kept else ""
    groups = f"groupby(({money}),aggregate({figures}))"
    steps = [*steps_of(entity, condition_text(plan), computed), groups]
    rows = run(Query(entity.set, {"apply": "/".join(steps)}), _MOST_CURRENCIES).rows
    rows = [row for row in rows if row[money] and row["amount"] is not None]
    own, rate = organisation().defaults.currency, organisation().exchange_rate
    worth = [Decimal(row["base"]) * (bool(row["rate"]) if rates.is_kept else rate(row[money]))
             for row in rows]  # fmt: skip
    if len(rows) < 2 or not all(worth):
        return Worth([(Decimal(row["amount"]), row[money]) for row in rows])
    return Worth([(sum(worth, Decimal(0)), own)], is_converted=True)


@dataclass(frozen=True)
class _Rates:
    """How amounts of some records are converted; ``counts``: the currencies that they have."""

    entity: Entity
    money: str
    counts: Mapping[str, Row]

    @property
    def is_kept(self) -> bool:
        """Whether each record keeps its rate; of lines and payments it is that of the invoice."""
        return self.entity.prop(_RATE) is not None

    @property
    def known(self) -> list[str]:
        """The currencies with a rate."""
        return [code for code in sorted(self.counts) if code not in self.unknown]

    @property
    def unknown(self) -> list[str]:
        """The currencies of which a record has no rate."""
        if self.is_kept:
            return [code for code, row in sorted(self.counts.items()) if not row["rate"]]
        rate = organisation().exchange_rate
        return [code for code in sorted(self.counts) if not rate(code)]

    def _base(self, path: str) -> str:
        """The property with the same in the currency of the organisation; empty for none."""
        base = f"base{path[:1].upper()}{path[1:]}"
        return base if self.entity.join is None and self.entity.prop(base) is not None else ""

    def has_worth(self, path: str) -> bool:
        """Whether each record tells by itself what an amount of it is worth."""
        return self.entity.is_number(path) and (self.is_kept or bool(self._base(path)))

    def worth(self, value: str) -> str:
        """A value in the currency of the organisation."""
        if base := self._base(value):
            return base
        value = f"({value})" if " " in value else value
        if self.is_kept:
            return f"{value} mul {_RATE}"
        rate = organisation().exchange_rate
        cases = [f"{self.money} eq '{code}':{rate(code).normalize():f}" for code in self.known]
        return f"{value} mul case({','.join(cases)})"

    def applied(self, plan: Plan) -> Plan:
        """The plan, with what has a rate only, and how it is converted."""
        own = organisation().defaults.currency
        say, rate = plan.say, "at the rates of the settings"
        if self.is_kept:
            is_own = plan.entity.join is None
            rate = "at the rate kept with each {record}" if is_own else "at the rate of the invoice"
        done = "amounts are converted into {currency}, {rate}"
        if not _is_whole(plan):
            done = "amounts are ranked by what they are worth in {currency}, {rate}"
        source = say(rate, record=say.named(plan.entity.one))
        plan = plan.with_assumption(done, currency=own, rate=source)
        if not self.unknown:
            return plan
        text = f"{_RATE} gt 0"
        if not self.is_kept:
            codes = ",".join(f"'{code}'" for code in self.known)
            text = f"{self.money} in ({codes})"
        condition = Condition(text, say("with an exchange rate"), None)
        plan = replace(plan, conditions=(*plan.conditions, condition))
        return plan.with_assumption("amounts in {currencies} without an exchange rate are left out",
                                    currencies=", ".join(self.unknown))  # fmt: skip


def _groups(plan: Plan, money: str, rates: _Rates) -> Plan:
    """Groups by what their records are worth together."""
    is_own = not _is_whole(plan) and _is_apart(plan, money)
    if plan.ranked is None and not is_own and not _is_whole(plan):
        return plan  # none is left out of what is only put in order: each currency in its own
    own = organisation().defaults.currency
    worth = replace(
        plan,
        measure=_converted(plan.say, plan.measure, rates, own, named=plan.kind == "measure"),
        figures=tuple(
            Figure(_converted(plan.say, figure.measure, rates, own), figure.method)
            for figure in plan.figures
        ),
        own=plan.measure if is_own else None,
    )
    return rates.applied(worth)


def _converted(
    say: Speech, measure: Measure | None, rates: _Rates, own: str, *, named: bool = True
) -> Measure | None:
    if measure is None or measure.money is None:
        return measure
    label = say.named(measure.label)
    if named:
        label = say("{figure} in {currency}", figure=label, currency=own)
    value = measure.base if measure.base and rates.is_kept else rates.worth(measure.value)
    return replace(measure, label=label, value=value, money=None, worth=own)


def _ordered(plan: Plan, rates: _Rates) -> Plan:
    """A list in the order of what its amounts are worth; what is due of one may be meant."""
    path = (plan.order or "").removesuffix(" desc")
    return replace(plan, order=(plan.order or "").replace(path, rates.worth(path), 1))


def _narrowed(plan: Plan, money: str, counts: Mapping[str, Row]) -> Plan:
    """A ranking where no rate is known: of the organisation's currency, or the most frequent.

    A share and a sum stay within each currency.
    """
    if _is_whole(plan):
        return plan.with_assumption("each currency stands by itself: there is no exchange rate")
    if plan.kind == "list" and not plan.limit:  # none is left out of what is only put in order
        return plan.with_assumption("amounts of several currencies are ordered by their numbers")
    own = organisation().defaults.currency
    chosen = own if own in counts else max(counts, key=lambda code: int(counts[code]["count"]))
    others = ", ".join(sorted(code for code in counts if code != chosen))
    words = plan.say("in {currency}", currency=chosen)
    condition = Condition(f"{money} eq '{chosen}'", words, money, (f"'{chosen}'",))
    narrowed = replace(plan, conditions=(*plan.conditions, condition))
    return narrowed.with_assumption("amounts in {others} are not ranked with those in {currency}",
                                    others=others, currency=chosen)  # fmt: skip


def _is_whole(plan: Plan) -> bool:
    """Whether amounts of all currencies are one figure: a share of them, or that it is asked so."""
    return plan.ranked is None and (plan.kind == "share" or plan.is_converted)


def _ranked_money(plan: Plan) -> str | None:
    """The currency property of what a plan is ranked by."""
    if plan.kind == "list":
        path = (plan.order or "").removesuffix(" desc")
        figures = plan.entity.figures.values()
        amounts = {plan.entity.amount, *(each.value for each in figures if each.money)}
        if not path or (plan.entity.join is not None and path not in amounts):
            return None  # "the last payments", by their day
        return plan.entity.currency_of(path)
    if plan.ranked is None and plan.sort is None and not _is_whole(plan):
        return None
    if len(plan.dimensions) > 1 and any(
        dimension.name == "currency" for dimension in plan.dimensions
    ):
        return None  # "by client and currency"
    return plan.money


def _currencies(plan: Plan, money: str) -> dict[str, Row]:
    """Currency -> number of records that the plan is about, and the least rate of them."""
    figures = "$count as count"
    if plan.entity.prop(_RATE) is not None:
        figures += f",{_RATE} with min as rate"
    groups = f"groupby(({money}),aggregate({figures}))"
    steps = [*steps_of(plan.entity, condition_text(plan)), groups]
    rows = run(Query(plan.entity.set, {"apply": "/".join(steps)}), _MOST_CURRENCIES).rows
    return {row[money]: row for row in rows if row[money]}


def _is_apart(plan: Plan, money: str) -> bool:
    """Whether each group has one currency, so that its amount can be told in that, too."""
    alone = plan.kind == "measure" and not plan.figures and plan.compared is None
    if not alone or plan.grain is not None or not plan.dimensions:
        return False
    keys, deep = [], []
    for dimension in plan.dimensions:
        path = dimension.key or dimension.path
        if path.count("/") > 1:
            deep.append(f"{path} as {group_name(dimension)}")
            path = group_name(dimension)
        keys.append(path)
    groups = ",".join(dict.fromkeys(keys))
    steps = [
        *steps_of(plan.entity, condition_text(plan), deep),
        f"groupby(({','.join(dict.fromkeys([*keys, money]))}))",
        f"groupby(({groups}),aggregate($count as count))",
        "filter(count gt 1)",
    ]
    return not run(Query(plan.entity.set, {"apply": "/".join(steps), "top": "1"}), 1).rows
