"""A question in plain words, answered under the rights of the caller, or sent back."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.answers import EXAMPLES, KINDS, Answer, answered, blank, confidence_of, unread
from app.bi.periods.calendar import calendar
from app.bi.periods.spans import Calendar
from app.bi.plans.phrasing import interpretation
from app.bi.plans.plan import Plan
from app.bi.reports.builtin import built_in
from app.bi.words.speech import Speech
from app.clock import utc_now
from app.db.types import iso_instant
from app.errors import ForbiddenError, ValidationError
from app.http.page_sizes import ANSWER

LONGEST_QUESTION = 1000


def answer_question(
    question: str, history: Sequence[str] = (), *, limit: int = ANSWER.default
) -> Answer:
    """Answer a question in plain words under the rights of the caller (contract 11.1).

    Args:
        question: at most 1000 characters.
        history: the questions before it in the same session, the oldest first; a question that
            goes on ("and last month?") is understood from them.
        limit: most rows to give, at most 1000.
    Returns: the body of contract 11.1. Nothing is written anywhere.
    Raises: ValidationError, no question; never because it is not understood: ``status`` says so.
    """
    from app.bi.questions import answering  # large: loaded with the first question

    text, now = check_question(question), utc_now()
    asked = blank(text, iso_instant(now))
    try:
        told = answering.propose(text, calendar(now), history)
    except ForbiddenError:
        refused = speech_of(text, history)("You may not read something that the question needs.")
        return asked | {"answer": refused}
    say = told.say
    if not told.plans:
        reason = told.reason if told.questions else f"{told.reason} {say(KINDS)}"
        sent_back: Answer = {
            "answer": reason, "alternatives": list(told.questions or map(say, EXAMPLES))
        }  # fmt: skip
        if told.refusal is not None and told.refusal.asks_back:
            sent_back["status"] = "needsClarification"
        return asked | _with_report(say, sent_back, told.report)
    if not told.is_answered:
        readings = told.questions or [interpretation(plan) for plan in told.plans]
        sent_back = {"status": "needsClarification", "confidence": round(told.confidence, 2),
                     "answer": told.reason, "alternatives": list(readings)}  # fmt: skip
        return asked | _with_report(say, sent_back, told.report)
    plan = told.plans[0]
    try:
        given = answered(plan, limit)
    except ForbiddenError:
        return asked | unread(plan)
    is_empty = given["confidence"] < confidence_of(plan, is_empty=False)
    return asked | given | {"confidence": round(told.confidence - 0.2 * is_empty, 2)}


def speech_of(question: str, history: Sequence[str] = ()) -> Speech:
    """What says things in the language of a question."""
    from app.bi.questions import answering  # large: loaded with the first question

    return answering.speech_of(question, history)


def _with_report(say: Speech, sent_back: Answer, key: str) -> Answer:
    """What is sent back, with the built-in report that shows what is asked for."""
    report = next((one for one in built_in().values() if one.key == key), None)
    if report is None:
        return sent_back
    shown = say("The report “{name}” shows it.", name=say.named(report.name))
    text = f"{sent_back['answer']} {shown}"
    return sent_back | {"answer": text, "reportId": report.id}


def is_refused(question: str, history: Sequence[str] = ()) -> bool:
    """Whether a question asks for something that no question can do."""
    from app.bi.questions import answering  # large: loaded with the first question

    refusal = answering.propose(question, calendar(utc_now()), history).refusal
    return refusal is not None and refusal.is_final


def plan_of(question: str, now: Calendar) -> Plan | None:
    """The plan of a question that stands by itself; None where it is not clear."""
    from app.bi.questions import answering  # large: loaded with the first question

    told = answering.propose(question, now)
    return told.plans[0] if told.is_answered else None


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
