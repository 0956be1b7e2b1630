"""Records in words: a list by the first few of it, and one record by how it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from app.bi.plans.entities import spoken
from app.bi.plans.phrasing import (
    and_more,
    described,
    first_few,
    most,
    number,
    order,
    text_of,
)
from app.bi.plans.plan import Condition, Plan
from app.bi.plans.qualifying import is_own_state
from app.bi.query import Row
from app.clock import local_day
from app.container.words import options_of
from app.money import plain


def listed(plan: Plan, rows: Sequence[Row], total: int | None, worth: str) -> str:
    """``385 invoices (open), 412,330.20 EUR in all: INV-1 (ACME), INV-2 (Globex) and 383 more.``

    Args:
        worth: what amounts of all of them add up to; empty where it is not told.
    """
    say, known = plan.say, len(rows) if total is None else total
    if known == 0:
        return say("There are no {what}.", what=described(plan))
    if known == 1 and identity(plan) is not None:
        return record_words(plan, rows[0], plan.asked_columns)
    # Of the first few that were asked for those that were not are left out.
    wanted = known if plan.limit is None or plan.is_within else min(known, plan.limit)
    first = first_few(rows, wanted)
    columns = _columns(plan, first)
    names = ", ".join(_named(plan, row, columns) for row in first)
    more = and_more(say, wanted - len(first))
    text = f"{_head(plan, known)}{worth and f', {worth}'}: {names}{more}."
    if len(rows) >= wanted:
        return text
    part, whole = number(say, len(rows)), number(say, wanted)
    return f"{text} {say('The first {part} of {whole} are listed.', part=part, whole=whole)}"


def record_words(plan: Plan, row: Row, columns: Sequence[str]) -> str:
    """``INV-7 (ACME): status partially paid, amount due 17.99 EUR.``"""
    telling = [path for path in _telling(plan) if path not in columns]
    name = _named(plan, row, dict.fromkeys(telling, ""))
    if columns and not any(row.get(path) is not None for path in columns):
        columns = [*columns, *plan.entity.data.get("standing", ())]
    paths = [path for path in dict.fromkeys(columns) if row.get(path) or path in plan.asked_columns]
    values = ", ".join(f"{_label(plan, path)} {_value_or_none(plan, row, path)}" for path in paths)
    return f"{name}: {values}." if values else f"{name}."


def identity(plan: Plan) -> Condition | None:
    """What says which record a list is of; None where it may be of several."""
    for condition in plan.conditions:
        is_one = len(condition.values) == 1 and not condition.negated
        if is_one and plan.entity.names_one(condition.path or ""):
            return condition
    return None


def by_itself(plan: Plan) -> Plan | None:
    """The list of the one record that a list of those in a state, or of a period, is of."""
    known = identity(plan) if plan.kind == "list" and plan.limit is None else None
    if known is None or (plan.period is None and len(plan.conditions) == 1):
        return None
    wanted = dict.fromkeys((*standing(plan), *plan.extra_columns))
    extra = tuple(path for path in wanted if path not in plan.entity.columns)
    return replace(plan, conditions=(known,), period=None, order=None, extra_columns=extra)


def standing(plan: Plan) -> tuple[str, ...]:
    """The columns that say how a record is: what is asked for, or its state and its dates."""
    dates = [plan.date] if plan.date and plan.date != plan.entity.date else []
    return plan.asked_columns or (*plan.entity.data.get("standing", ()), *dates)


def _head(plan: Plan, known: int) -> str:
    """How many records, or which of them: ``The 5 largest of 151 opportunities (open)``."""
    say, count = plan.say, number(plan.say, known)
    if plan.limit is None or plan.is_within or known == 1 or not plan.order_words:
        head = f"{count} {described(plan, plan.entity.one if known == 1 else '')}"
        return f"{head}, {order(plan)}" if plan.order_words and not plan.limit else head
    limit, what = min(known, plan.limit), described(plan)
    if plan.ranked_by:
        few = ("The one of {count} {what} with the {most}" if limit == 1
               else "The {limit} of {count} {what} with the {most}")  # fmt: skip
        return say(few, limit=limit, count=count, what=what, most=most(plan))
    few = ("The {order} of {count} {what}" if limit == 1
           else "The {limit} {order} of {count} {what}")  # fmt: skip
    ends = say(plan.order_words.removesuffix(" first"))
    return say(few, limit=limit, count=count, what=what, order=ends)


def _columns(plan: Plan, rows: Sequence[Row]) -> dict[str, str]:
    """What is told of each record beside its name: by path what stands before the value."""
    ordered = _ordered(plan)
    paths = [path for path in (*plan.asked_columns, *plan.extra_columns) if path != ordered]
    names = [row.get(plan.entity.name) for row in rows]
    telling = [*(["number"] if len(set(names)) < len(names) else []), *_telling(plan)]
    telling += [ordered] if ordered and ordered != plan.entity.name else []
    return dict.fromkeys(telling, "") | {
        path: f"{_label(plan, path)}: " for path in paths if path not in telling
    }


def _telling(plan: Plan) -> Iterator[str]:
    """What tells records apart that are called alike, but for what all of them have in common."""
    entity = plan.entity
    common = {path for condition in plan.conditions
              if len(condition.values) == 1 and not condition.negated
              for dimension in entity.dimensions.values()
              if condition.path in (dimension.path, dimension.key)
              for path in (dimension.path, condition.path)}  # fmt: skip
    for path in entity.data.get("apart", ()):
        if path not in common:
            yield plan.amount or path if path == entity.amount else path


def _named(plan: Plan, row: Row, columns: dict[str, str]) -> str:
    """``INV-7 (ACME, 17.99 EUR)``."""
    name = str(row.get(plan.entity.name) or plan.say("no. {number}", number=row.get("id")))
    details = ", ".join(before + _value_or_none(plan, row, path) for path, before in columns.items()
                        if before or _value(plan, row, path))  # fmt: skip
    return f"{name} ({details})" if details else name


def _value_or_none(plan: Plan, row: Row, path: str) -> str:
    """A value that is asked for, and that there is none."""
    return _value(plan, row, path) or text_of(plan, None)


def _value(plan: Plan, row: Row, path: str) -> str:
    """A value of a record in words; empty for none."""
    value, entity = row.get(path), plan.entity
    if value is None or value == "":
        return ""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        code = entity.currency_of(path)
        currency = row.get(code) if code else None
        if not currency:
            return number(plan.say, value)
        return plan.say.digits(plain(Decimal(value), currency))
    prop = entity.prop(path)
    if getattr(getattr(prop, "type", None), "name", "") == "Edm.DateTimeOffset":
        day = local_day(datetime.fromisoformat(value), ZoneInfo(plan.zone))
        return plan.say.day(day)
    if prop is not None and options_of(prop):
        return plan.say.named(spoken(value))
    return text_of(plan, value, path)


def _ordered(plan: Plan) -> str:
    """What a list is ordered by; of an amount that is ranked by its worth, the amount itself."""
    ordered = (plan.order or "").removesuffix(" desc").partition(" mul ")[0]
    own = f"{ordered[4:5].lower()}{ordered[5:]}"
    return own if ordered.startswith("base") and plan.entity.prop(own) is not None else ordered


def _label(plan: Plan, path: str) -> str:
    """What a column is called in a sentence: ``due date``, ``paid``, ``owner``."""
    name = spoken(path.removesuffix("/displayName").removesuffix("/name")) or path
    return plan.say.named(name).removesuffix(" at")


def next_plans(plan: Plan) -> Iterator[Plan]:
    """What is asked next of the records of a list, or of their number: of the same records.

    What they are worth or how many they are by client and by person, and which are open or late.
    """
    if plan.kind not in ("list", "count") or plan.dimensions or plan.grain or plan.threshold:
        return
    if plan.compared is not None or identity(plan) is not None:
        return
    entity, named = plan.entity, {condition.path for condition in plan.conditions}
    whole = replace(plan, order=None, order_words="", ranked_by="", limit=None, within=(), asked="",
                    extra_columns=(), asked_columns=(), assumptions=(), repaired=())  # fmt: skip
    if plan.kind == "count":
        yield replace(whole, kind="list")
    number_of = replace(whole, kind="count")
    is_stated = any(is_own_state(condition.text) for condition in plan.conditions)
    filters = {None, *(condition.text for condition in plan.conditions)}
    measure = next((each for each in entity.figures.values()
                    if each.value == plan.amount and each.money and each.filter in filters
                    and (is_stated or not each.issued)), None)  # fmt: skip
    if measure is not None and plan.kind == "list":
        number_of = replace(number_of, kind="measure", measure=measure)
    for dimension in (entity.dimensions.get("client"), entity.person):
        if dimension is not None and not named & {dimension.path, dimension.key}:
            yield replace(number_of, dimensions=(dimension,))
    if is_stated:
        return
    for state in ("open", "overdue"):
        if state in entity.data.get("states", {}):
            text = entity.data["states"][state]["filter"]
            if "{" not in text:
                conditions = (*plan.conditions, Condition(text, state))
                yield replace(whole, kind="list", conditions=conditions)
