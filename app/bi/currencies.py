"""Amounts of different currencies are neither added up nor ranked together."""

from __future__ import annotations

from dataclasses import replace

from app.bi.nlq.filtering import condition_text
from app.bi.nlq.plan import Condition, Plan
from app.bi.query import Query, run
from app.settings import organisation

# What an amount is multiplied by to be one in the currency of the organisation.
_RATE = "exchangeRate"


def in_one_currency(plan: Plan) -> Plan:
    """A ranking by amounts, narrowed to one currency where the records have several.

    Records whose amounts are known in the currency of the organisation as well are ranked by
    those, and none is left out (docs/adr/0146). Else the currency is that of the organisation if
    any record has it, else the one of most records; the plan says so among its assumptions, and
    is less sure of what it leaves out.
    """
    money = _ranked_money(plan)
    if money is None or any(one.path == money for one in plan.conditions):
        return plan
    if (converted := _converted(plan)) is not None:
        return converted
    found = _currencies(plan, money)
    if len(found) < 2:
        return plan
    if plan.kind == "list" and not plan.limit:  # none is left out of what is only put in order
        mixed = replace(plan, unsure=plan.unsure + 1)
        return mixed.with_assumption("amounts of several currencies are ordered by their numbers")
    own = organisation().defaults.currency
    chosen = own if own in found else max(found, key=lambda code: found[code])
    others = ", ".join(sorted(code for code in found if code != chosen))
    condition = Condition(f"{money} eq '{chosen}'", f"in {chosen}", money, (f"'{chosen}'",))
    narrowed = replace(plan, conditions=(*plan.conditions, condition), unsure=plan.unsure + 1)
    return narrowed.with_assumption(f"amounts in {others} are not ranked with those in {chosen}")


def _converted(plan: Plan) -> Plan | None:
    """A list in the order of its amounts in the currency of the organisation, if they are known."""
    path = (plan.order or "").removesuffix(" desc")
    base = f"base{path[:1].upper()}{path[1:]}"
    if plan.kind != "list" or not plan.entity.is_number(path):
        return None
    ordered = replace(plan, order=(plan.order or "").replace(path, base, 1))
    if plan.entity.prop(base) is None:
        if plan.entity.prop(_RATE) is None:
            return None
        # What is due of it: the whole amount may be what is meant.
        by_rate = (plan.order or "").replace(path, f"{path} mul {_RATE}", 1)
        ordered = replace(plan, order=by_rate, unsure=plan.unsure + 1)
    own = organisation().defaults.currency
    return ordered.with_assumption(f"amounts are ranked by what they are worth in {own}")


def _ranked_money(plan: Plan) -> str | None:
    """The currency property of what a plan is ranked by."""
    if plan.kind == "list":
        path = (plan.order or "").removesuffix(" desc")
        return plan.entity.currency_of(path) if path else None
    if plan.ranked is None or any(one.name == "currency" for one in plan.dimensions):
        return None
    return plan.money


def _currencies(plan: Plan, money: str) -> dict[str, int]:
    """Currency -> number of records that the plan is about."""
    steps = [f"join({plan.entity.join})"] if plan.entity.join else []
    if where := condition_text(plan):
        steps.append(f"filter({where})")
    steps += [f"groupby(({money}),aggregate($count as count))"]
    rows = run(Query(plan.entity.set, {"apply": "/".join(steps)}), 200).rows
    return {row[money]: row["count"] for row in rows if row[money]}
