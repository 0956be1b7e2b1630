"""A question answered by the rules, or sent back with what can be asked instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.bi.answers import EXAMPLES, KINDS, Answer, answered, unread
from app.bi.currencies import in_one_currency
from app.bi.nlq.choosing import choices
from app.bi.nlq.naming import AmbiguousName
from app.bi.nlq.refusing import report_named, unknown_text
from app.bi.nlq.understood import Understood
from app.bi.periods.spans import Calendar
from app.bi.plans.phrasing import interpretation
from app.bi.plans.plan import Plan
from app.bi.reports.builtin import built_in
from app.errors import ForbiddenError
from app.http.security import current_caller


class SeveralError(Exception):
    """A question that is asked back."""


def by_rules(blank: Answer, history: Sequence[str], now: Calendar, limit: int) -> Answer:
    """The answer of the rules to a question."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    text = blank["question"]
    try:
        understood = understanding.understand(text, history, now, current_caller().user_id)
    except AmbiguousName as name:
        return _choose_name(blank, text, name)
    if len(understood.plans) != 1:
        sent_back = _unanswered(blank, understood)
        return sent_back if understood.refused else _with_report(sent_back)
    plan = understood.plans[0]
    try:
        return blank | answered(in_one_currency(plan), limit)
    except ForbiddenError:
        return blank | unread(plan)


def plan_of(question: str, now: Calendar) -> Plan | None:
    """The plan of a question that stands by itself; None where it has none of the rules.

    Raises: SeveralError, it can be meant in several ways.
    """
    from app.bi.nlq import understanding  # large: loaded with the first question

    try:
        understood = understanding.understand(question, (), now, current_caller().user_id)
    except AmbiguousName as error:
        raise SeveralError from error
    if len(understood.plans) > 1 or understood.choices:
        raise SeveralError
    return in_one_currency(understood.plans[0]) if understood.plans else None


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
    text += f" You can ask about {KINDS}."
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


def is_refused(question: str) -> bool:
    """Whether a question asks for something that no question can do."""
    from app.bi.nlq import understanding  # large: loaded with the first question

    return understanding.is_refused(question)
