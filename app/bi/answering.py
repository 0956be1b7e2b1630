"""A question in plain words, answered by what understands it."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.answers import EXAMPLES, KINDS, Answer, answered, blank, confidence_of, unread
from app.bi.nlq import answering as rules
from app.bi.periods.calendar import calendar
from app.bi.periods.spans import Calendar
from app.bi.plans.phrasing import interpretation
from app.bi.plans.plan import Plan
from app.clock import utc_now
from app.db.types import iso_instant
from app.errors import ForbiddenError, ValidationError
from app.extensions import configuration
from app.http.page_sizes import ANSWER

LONGEST_QUESTION = 1000
UNSURE = 0.75  # at most that of what only the grammar has an answer to


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
    asked, today = blank(text, iso_instant(now)), calendar(now)
    by = by or configuration.current.NLQ_UNDERSTANDING
    if by == "grammar":
        return _by_grammar(asked, history, today, limit)
    told = rules.by_rules(asked, history, today, limit)
    if told["status"] != "unsupported":
        return told
    if not _is_english(text, history):
        return _by_grammar(asked, history, today, limit)
    return told if by == "rules" else _or_else(told, _by_grammar(asked, history, today, limit))


def _or_else(refused: Answer, found: Answer) -> Answer:
    """What the grammar made of a question that the rules have no answer to."""
    if found["status"] != "answered" or is_refused(refused["question"]):
        return refused
    return found | {"confidence": min(found["confidence"], UNSURE)}


def _is_english(question: str, history: Sequence[str]) -> bool:
    """Whether a question is in the language of the rules; others the grammar alone reads."""
    from app.bi.questions import understanding  # large: loaded with the first question

    return understanding.language_of(question, history) == "en"


def _by_grammar(asked: Answer, history: Sequence[str], now: Calendar, limit: int) -> Answer:
    """Answered where the reading is sure; else sent back."""
    from app.bi.questions import answering  # large: loaded with the first question

    try:
        told = answering.propose(asked["question"], now, history)
    except ForbiddenError:
        text = "You may not read something that the question needs."
        return asked | {"answer": text}
    if not told.plans:
        text = told.reason if told.questions else f"{told.reason} You can ask about {KINDS}."
        sent_back = {"answer": text, "alternatives": list(told.questions or EXAMPLES)}
        asks_back = told.refusal is not None and told.refusal.asks_back
        return asked | sent_back | ({"status": "needsClarification"} if asks_back else {})
    if not told.is_answered:
        readings = told.questions or [interpretation(plan) for plan in told.plans]
        return asked | {"status": "needsClarification", "confidence": round(told.confidence, 2),
                        "answer": told.reason, "alternatives": list(readings)}  # fmt: skip
    plan = told.plans[0]
    try:
        given = answered(plan, limit)
    except ForbiddenError:
        return asked | unread(plan)
    is_empty = given["confidence"] < confidence_of(plan, is_empty=False)
    confidence = round(told.confidence - 0.2 * is_empty, 2)
    return asked | given | {"confidence": confidence}


def is_refused(question: str) -> bool:
    """Whether a question asks for something that no question can do."""
    return rules.is_refused(question)


def plan_of(question: str, now: Calendar) -> Plan | None:
    """The plan of a question that stands by itself; None where it is not clear."""
    by = configuration.current.NLQ_UNDERSTANDING
    try:
        plan = None if by == "grammar" else rules.plan_of(question, now)
    except rules.SeveralError:
        return None
    if plan is not None or by == "rules" or is_refused(question):
        return plan
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
