"""One question answered: words, rows, a chart, and the OData address that gives the same rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.bi.charts import MOST_BARS, Chart, vega_lite
from app.bi.currencies import in_one_currency
from app.bi.nlq.choosing import choices
from app.bi.nlq.columns import Compiled
from app.bi.nlq.compiling import compiled
from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.phrasing import GRAIN_WORDS, answer, cycle_name, interpretation
from app.bi.nlq.plan import Plan
from app.bi.nlq.refusing import report_named, unknown_text
from app.bi.nlq.spans import CYCLES, Calendar
from app.bi.nlq.understood import Understood
from app.bi.query import Row, count, run
from app.bi.reports.builtin import built_in
from app.clock import utc_now
from app.db.types import iso_instant
from app.errors import ForbiddenError, ValidationError
from app.extensions import configuration
from app.http.page_sizes import ANSWER
from app.http.security import current_caller
from app.measures import MEASURES
from app.settings import organisation
from app.settings.days import day_of, zone

LONGEST_QUESTION = 1000
UNSURE = 0.75  # at most that of what only the grammar has an answer to
EXAMPLES = (
    "Revenue by month this year", "Overdue amount by client", "Open tickets by priority",
    "Win rate by owner this quarter", "Clients with more than 2 overdue invoices",
)  # fmt: skip
_KINDS = (
    "clients, contacts, leads, deals, invoices, credit notes, payments, products, tickets, tasks, "
    "projects, articles and documents"
)
Answer = dict[str, Any]


def answer_question(
    question: str, history: Sequence[str] = (), *, limit: int = ANSWER.default, by: str = ""
) -> Answer:
    """Answer a question in plain words under the rights of the caller (contract 11.1).

    Args:
        question: at most 1000 characters.
        history: the questions before it in the same session, the oldest first; a question that
            goes on ("and last month?") is understood from them.
        limit: most rows to give, at most 1000.
        by: what understands it (``NLQ_UNDERSTANDING``, which is what none means).
    Returns: the body of contract 11.1. Nothing is written anywhere.
    Raises: ValidationError, no question; never because it is not understood: ``status`` says so.
    """
    text = check_question(question)
    now = utc_now()
    blank = _blank(text, iso_instant(now))
    by = by or configuration.current.NLQ_UNDERSTANDING
    if by == "rules":
        answered = _by_rules(blank, history, now, limit)
        is_read = answered["status"] != "unsupported" or _is_english(text, history)
        return answered if is_read else _by_grammar(blank, history, calendar(now), limit)[0]
    found, is_certain = _by_grammar(blank, history, calendar(now), limit)
    if by == "grammar" or (is_certain and not history):
        return found
    answered = _by_rules(blank, history, now, limit)
    return _or_else(answered, found) if answered["status"] == "unsupported" else answered


def _or_else(refused: Answer, found: Answer) -> Answer:
    """What the grammar made of a question that the rules have no answer to."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    if found["status"] != "answered" or understanding.is_refused(refused["question"]):
        return refused
    return found | {"confidence": min(found["confidence"], UNSURE)}


def _is_english(question: str, history: Sequence[str]) -> bool:
    """Whether a question is in the language of the rules; others the grammar alone reads."""
    from app.bi.questions import answering  # large: loaded with the first question

    return answering.language_asked(question, history) == "en"


def _by_grammar(
    blank: Answer, history: Sequence[str], now: Calendar, limit: int
) -> tuple[Answer, bool]:
    """Answered where the reading is sure, and whether it is certain; else sent back."""
    from app.bi.questions import answering  # large: loaded with the first question

    try:
        told = answering.propose(blank["question"], now, history)
    except ForbiddenError:
        text = "You may not read something that the question needs."
        return blank | {"answer": text}, False
    if not told.plans and not told.questions:
        text = f"{told.reason} You can ask about {_KINDS}."
        return blank | {"answer": text, "alternatives": list(EXAMPLES)}, False
    if not told.is_answered:
        readings = told.questions or [interpretation(plan) for plan in told.plans]
        return blank | {"status": "needsClarification", "confidence": round(told.confidence, 2),
                        "answer": told.reason, "alternatives": list(readings)}, False  # fmt: skip
    plan = told.plans[0]
    try:
        answered = _answered(plan, limit)
    except ForbiddenError:
        return blank | _unread(plan), False
    is_empty = answered["confidence"] < _confidence(plan, is_empty=False)
    confidence = round(told.confidence - 0.2 * is_empty, 2)
    return blank | answered | {"confidence": confidence}, told.is_certain and not is_empty


def _unread(plan: Plan) -> Answer:
    """What is said of records that the caller may not read."""
    return {
        "interpretation": interpretation(plan), "alternatives": [],
        "answer": f"You may not read {plan.entity.many}, or something that the question needs.",
    }  # fmt: skip


def _by_rules(blank: Answer, history: Sequence[str], now: datetime, limit: int) -> Answer:
    from app.bi.nlq import understanding  # large: loaded with the first question

    text = blank["question"]
    try:
        understood = understanding.understand(
            text, history, calendar(now), current_caller().user_id
        )
    except AmbiguousName as name:
        return _choose_name(blank, text, name)
    if len(understood.plans) != 1:
        sent_back = _unanswered(blank, understood)
        return sent_back if understood.refused else _with_report(sent_back)
    plan = understood.plans[0]
    try:
        return blank | _answered(in_one_currency(plan), limit)
    except ForbiddenError:
        return blank | _unread(plan)


def plan_of(question: str, now: Calendar) -> Plan | None:
    """The plan of a question that stands by itself; None where it is not clear."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    try:
        understood = understanding.understand(question, (), now, current_caller().user_id)
    except AmbiguousName:
        return None
    return in_one_currency(understood.plans[0]) if len(understood.plans) == 1 else None


def check_question(question: str) -> str:
    """The question, if it is one that can be read.

    Raises: ValidationError.
    """
    text = " ".join(question.split())
    if not text:
        raise ValidationError([("question", "must not be empty")])
    if len(text) > LONGEST_QUESTION:
        raise ValidationError([("question", f"must have at most {LONGEST_QUESTION} characters")])
    if "\x00" in text:
        raise ValidationError([("question", "must not contain NUL")])
    return text


def calendar(now: datetime) -> Calendar:
    """What day it is where the organisation is."""
    return Calendar(day_of(now), organisation().defaults.fiscal_year_start, zone().key)


def _blank(question: str, as_of: str) -> Answer:
    return {
        "question": question, "interpretation": "", "status": "unsupported", "answer": "",
        "columns": [], "rows": [], "rowCount": 0, "truncated": False, "chart": None,
        "query": None, "confidence": 0.0, "alternatives": [], "asOf": as_of, "reportId": None,
    }  # fmt: skip


def _answered(plan: Plan, limit: int) -> Answer:
    made = compiled(plan)
    found = run(made.query, max(1, min(limit, ANSWER.largest)))
    rows = [_complete(row, made) for row in found.rows]
    total = count(made.query) if found.truncated and found.total is None else found.total
    text = answer(plan, made, rows, total)
    if plan.ranked and plan.limit == 1 and _is_tied(plan, made, rows):
        text += " Others have the same number."
    return {
        "interpretation": interpretation(plan),
        "status": "answered",
        "answer": text,
        "columns": [
            {"name": one.name, "label": one.label, "type": one.type} for one in made.columns
        ],
        "rows": rows,
        "rowCount": len(rows),
        "truncated": found.truncated,
        "chart": chart_of(plan, made, rows),
        "query": {"entity": made.query.set_name, "odata": made.query.url},
        "confidence": _confidence(plan, is_empty=_is_empty(plan, made, rows)),
        "alternatives": _alternatives(plan),
    }


def _complete(row: Row, made: Compiled) -> Row:
    """The row with all columns: of a record that is not there, each of its values is null."""
    parents = {column.name.partition("/")[0] for column in made.columns if "/" in column.name}
    kept = {name: value for name, value in row.items() if value is not None or name not in parents}
    return kept | {column.name: row.get(column.name) for column in made.columns}


def _is_tied(plan: Plan, made: Compiled, rows: Sequence[Row]) -> bool:
    """Whether the next group has the same figure as the one that is named."""
    if not rows:
        return False
    options = {**made.query.options, "top": "2"}
    two = run(replace(made.query, options=options), 2).rows
    name = made.figures[-1] if plan.kind == "share" else made.figures[0]
    return len(two) == 2 and two[0][name] == two[1][name]


def _is_empty(plan: Plan, made: Compiled, rows: Sequence[Row]) -> bool:
    """Whether nothing was found."""
    figures = [row.get(name) for row in rows for name in made.figures]
    return not rows or (plan.kind != "list" and not any(figures))


def _confidence(plan: Plan, *, is_empty: bool) -> float:
    """1 less what had to be taken for granted; never over 0.95, for language is language."""
    value = Decimal("0.95")
    value -= Decimal("0.1") * len(plan.repaired)
    value -= Decimal("0.05") * min(2, len(plan.assumptions))
    # Where there is nothing, something else may have been asked for.
    value -= Decimal("0.2") * (len(plan.doubts) + plan.unsure + is_empty)
    if plan.measure is not None and plan.measure.snapshot and plan.period is not None:
        value -= Decimal("0.2")
    return float(max(value, Decimal("0.3")))


def _alternatives(plan: Plan) -> list[str]:
    """Questions beside this one."""
    found = [*plan.doubts]
    net, gross = MEASURES["Revenue"].label, MEASURES["GrossRevenue"].label
    if plan.kind == "measure" and plan.measure is not None and plan.measure.label in (
        net, f"{net} in {plan.worth}"
    ):  # fmt: skip
        found.append(gross + (f" {plan.period.label}" if plan.period else ""))
    if plan.kind == "list":
        found.append(f"How many {plan.entity.many}?")
    return found


def chart_of(plan: Plan, made: Compiled, rows: Sequence[Row]) -> dict[str, Any] | None:
    """A chart where there are groups to compare; None for a single figure or a list."""
    if plan.kind == "list" or plan.chart == "table" or not 2 <= len(rows) <= 500:
        return None
    figure = "percent" if plan.kind == "share" else made.figures[0]
    groups = [c for c in made.columns if c.name not in made.figures and c.name != made.currency]
    if not groups:
        return None
    values = _told_apart(plan, rows)
    x = groups[-1]
    if plan.grain is not None:
        for row in values:
            row["period"] = _stamp(plan.grain, row)
        names = ("year", "month", "quarter", "half", "week", "day", *CYCLES)
        others = [one for one in groups if one.name not in (*names, plan.date)]
        series = others[0].name if others else made.currency
        shape = "bar" if plan.grain in CYCLES else "line"
        title = GRAIN_WORDS.get(plan.grain, plan.grain).capitalize()
        chart = Chart(shape, "period", figure, series, title, "")
    else:
        currency = made.currency if plan.own is None else None  # the bars are of one currency
        x, series = groups[0], groups[1].name if len(groups) > 1 else currency
        values = values[:MOST_BARS]
        chart = Chart("bar", x.name, figure, series, x.label, "")
    if plan.chart is not None:
        chart = replace(chart, type="arc" if plan.chart == "pie" else plan.chart)
    if chart.type == "arc" and chart.series is not None:
        chart = replace(chart, type="bar")  # slices of several currencies make no whole
    label = next(column.label for column in made.columns if column.name == figure)
    chart = replace(chart, y_label=label)
    if chart.series is not None and len({row.get(chart.series) for row in values}) < 2:
        chart = replace(chart, series=None)
    shown_x = plan.grain or x.name
    return {"type": chart.type, "x": shown_x, "y": figure, "spec": vega_lite(chart, values, label)}


def _told_apart(plan: Plan, rows: Sequence[Row]) -> list[Row]:
    """The rows, names that are those of several records with the number of each behind them."""
    values: list[Row] = [dict(row) for row in rows]
    for one in plan.dimensions:
        keys: dict[Any, set[Any]] = {}
        for row in rows:
            keys.setdefault(row.get(one.path), set()).add(row.get(one.key or one.path))
        for row in values:
            if len(keys[row.get(one.path)]) > 1:
                row[one.path] = f"{row.get(one.path)} ({row.get(one.key or one.path)})"
    return values


def _stamp(grain: str, row: Row) -> str:
    """A period as it sorts and reads: 2026-03, 2026 Q1."""
    year, part = row.get("year"), row.get(grain)
    if grain == "year":
        return str(year)
    if grain == "month" and year is not None and part is not None:
        return f"{year}-{part:02d}"
    if grain in ("quarter", "half") and year is not None:
        return f"{year} {grain[0].upper()}{part}"
    if grain in CYCLES:
        name = cycle_name(grain, part)
        return f"{part} {name}" if grain != "hour" and name else str(name)  # so that they sort
    return str(part if part is not None else next(iter(row.values())))


# --- no answer


def _unanswered(blank: Answer, understood: Understood) -> Answer:
    if len(understood.plans) > 1:
        readings = [interpretation(plan) for plan in understood.plans[:4]]
        return blank | {"status": "needsClarification", "alternatives": readings,
                        "answer": "This can be meant in several ways. Which one?"}  # fmt: skip
    if understood.choices:
        several = "This can be meant in several ways. Which one?"
        several = several if len(understood.choices) > 1 else "Is this what is meant?"
        text = "These are two questions. Which one first?" if understood.is_two else several
        return blank | {"status": "needsClarification", "answer": text,
                        "alternatives": list(understood.choices)}  # fmt: skip
    if understood.refused:
        text = f"This is not answered: {understood.reason}. Nothing was changed."
    elif understood.near is not None:
        text = "How something is done is told by articles, not by figures."
        return blank | {"answer": text, "alternatives": [understood.near]}
    elif near := _nearest(blank["question"], understood.unknown):
        return blank | {"answer": "This is not offered; the nearest question is.",
                        "alternatives": [near]}  # fmt: skip
    elif understood.unknown:
        from app.bi.nlq import understanding

        vocabulary = understanding.vocabulary_of()
        text = unknown_text(understood.unknown, vocabulary, blank["question"])
    else:
        text = f"I cannot tell {understood.reason or 'what is asked for'}."
    text += f" You can ask about {_KINDS}."
    return blank | {"answer": text, "alternatives": list(EXAMPLES)}


def _with_report(sent_back: Answer) -> Answer:
    """The built-in report beside the choices, where one shows what is asked for."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    key = report_named(sent_back["question"], understanding.vocabulary_of())
    report = next((one for one in built_in().values() if one.key == key), None)
    if report is None:
        return sent_back
    text = f"{sent_back['answer']} The report “{report.name}” shows it."
    return sent_back | {"answer": text, "reportId": report.id}


def _nearest(question: str, unknown: Sequence[str]) -> str | None:
    """The question with what is not offered replaced by the nearest thing that is."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    nearest = understanding.vocabulary_of().nearest
    word = next((one for one in unknown if one.lower() in nearest), None)
    if word is None:
        return None
    plain = nearest[word.lower()]
    said, found = re.subn(rf"\b{re.escape(word)}\b", plain, question, count=1, flags=re.IGNORECASE)
    return said if found else plain.capitalize()


def _choose_name(blank: Answer, question: str, name: AmbiguousName) -> Answer:
    """The question once for each record of the name."""
    return blank | {
        "status": "needsClarification",
        "answer": f"Several records are called “{name.text}”. Which one?",
        "alternatives": choices(question, name.text, name.values),
    }
