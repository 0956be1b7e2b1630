"""A question in plain words, answered under the rights of the caller, or sent back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.bi.answers import (
    EXAMPLES,
    KINDS,
    Answer,
    SessionState,
    answered,
    blank,
    unread,
)
from app.bi.periods.calendar import calendar
from app.bi.periods.spans import Calendar, Period
from app.bi.plans.columns import Compiled
from app.bi.plans.compiling import compiled
from app.bi.plans.phrasing import restated
from app.bi.plans.plan import Plan
from app.bi.reports.builtin import built_in
from app.bi.words.speech import Speech
from app.bi.words.tokens import Token
from app.clock import utc_now
from app.db.types import iso_instant
from app.errors import ForbiddenError, ValidationError
from app.http.page_sizes import ANSWER

if TYPE_CHECKING:
    from app.bi.questions.answering import Proposal

LONGEST_QUESTION = 1000


@dataclass(frozen=True)
class Reply:
    """An answer, the language that it is in, and what the next question goes on from.

    ``goes_on``: it is read as going on from the one before; ``is_final``: it was asked for
    something that no question can do. ``confidence`` is that of the reading, whatever is found.
    ``is_question``: its words ask how much or how many. ``asked_paths``: what properties of the
    record that is looked at (``state_of_record``) are asked for, and nothing is answered then; none
    where it is only named, None for all else; ``is_of_all``: more than it is meant.
    ``lacks_subject``: nothing but of which records is left to ask back.
    """

    answer: Answer
    say: Speech
    state: SessionState
    goes_on: bool
    is_final: bool
    confidence: float
    is_question: bool
    asked_paths: tuple[str, ...] | None
    is_of_all: bool
    lacks_subject: bool


def answer_question(
    question: str,
    before: SessionState | None = None,
    *,
    limit: int = ANSWER.default,
    page_language: str = "",
) -> Answer:
    """The answer to a question alone: ``reply_to``."""
    return reply_to(question, before, limit=limit, page_language=page_language).answer


def reply_to(
    question: str,
    before: SessionState | None = None,
    *,
    limit: int = ANSWER.default,
    page_language: str = "",
) -> Reply:
    """Answer a question in plain words under the rights of the caller (contract 11.1).

    Args:
        question: at most 1000 characters.
        before: what the questions before it in the same session mean; a question that goes on
            ("and last month?") is understood from it.
        limit: most rows to give, at most 1000.
        page_language: in which to answer where no word says it; empty: that of the caller.
    Returns: the body of contract 11.1. Nothing is written anywhere.
    Raises: ValidationError, no question; never because it is not understood: ``status`` says so.
    """
    text, now = check_question(question), utc_now()
    proposal = _proposed(text, calendar(now), before, page_language)
    understood = proposal.understood
    paths = understood.asked_paths if proposal.plans else None
    known = {"status": "answered", "confidence": round(proposal.confidence, 2)} if paths else None
    answer = blank(text, iso_instant(now))
    answer |= known or _answer(proposal, limit, is_first=before is None)
    refusal = proposal.refusal
    is_final = refusal is not None and refusal.is_final
    state = SessionState(proposal.state)
    return Reply(
        answer, proposal.say, state, understood.is_of_before, is_final, proposal.confidence,
        understood.is_question, paths, understood.is_of_all,
        lacks_subject=refusal is not None and refusal.reason == "subject",
    )  # fmt: skip


def _answer(proposal: Proposal, limit: int, *, is_first: bool) -> Answer:
    """What there is to say to a question, beside what every answer has.

    Args:
        is_first: it is the first of a session, or stands alone: what can be asked is told once.
    """
    say = proposal.say
    if not proposal.plans:
        offered = proposal.questions or proposal.nearby
        is_told = is_first and not offered
        reason = f"{proposal.reason} {say(KINDS)}" if is_told else proposal.reason
        sent_back: Answer = {"answer": reason, "alternatives": list(offered or map(say, EXAMPLES))}
        if proposal.refusal is not None and proposal.refusal.asks_back:
            sent_back["status"] = "needsClarification"
        return _with_report(say, sent_back, proposal.report)
    if not proposal.is_answered:
        readings = proposal.questions or [f"{restated(plan)}." for plan in proposal.plans]
        sent_back = {"status": "needsClarification", "confidence": round(proposal.confidence, 2),
                     "answer": proposal.reason, "alternatives": list(readings)}  # fmt: skip
        return _with_report(say, sent_back, proposal.report)
    plan, query = proposal.likeliest
    try:
        return answered(plan, query, proposal.confidence, limit)
    except ForbiddenError:
        return unread(plan)


def _with_report(say: Speech, sent_back: Answer, key: str) -> Answer:
    """What is sent back, with the built-in report that shows what is asked for."""
    report = next((each for each in built_in().values() if each.key == key), None)
    if report is None:
        return sent_back
    hint = say("The report “{name}” shows it.", name=say.named(report.name))
    text = f"{sent_back['answer']} {hint}"
    return sent_back | {"answer": text, "reportId": report.id}


def plan_of(question: str, now: Calendar) -> tuple[Plan, Compiled] | None:
    """The plan of a question that stands by itself, with its query; None where it is not clear."""
    proposal = _proposed(question, now, None)
    return proposal.likeliest if proposal.is_answered else None


def state_after(questions: Iterable[str], page_language: str = "") -> SessionState | None:
    """What goes on from questions that were asked one after the other, where only they are kept."""
    state, now = None, calendar(utc_now())
    for question in questions:
        state = SessionState(_proposed(check_question(question), now, state, page_language).state)
    return state


def address_of(before: SessionState) -> str:
    """The address of what was asked before; empty where nothing was understood."""
    from app.bi.questions.answering import plan_of_state  # large: loaded with the first question

    plan = plan_of_state(before.value, calendar(utc_now()))
    return "" if plan is None else compiled(plan).query.url


def state_of_record(entity_set: str, key: int, title: str, language: str) -> SessionState:
    """What goes on from the record that is looked at, as if it had been named."""
    from app.bi.questions.answering import standing_of_record  # large: as above

    return SessionState(standing_of_record(entity_set, key, title, language))


def periods_in(tokens: Sequence[Token], code: str) -> list[tuple[int, int, Period]]:
    """The periods that words of a language name, as of today: from where to where, and the days."""
    from app.bi.questions.answering import periods_among  # large: loaded with the first question

    return periods_among(tokens, code, calendar(utc_now()))


def named_among(tokens: Sequence[Token], code: str, entity: str) -> list[tuple[int, int, str, str]]:
    """What words say of records of a type: from where to where they are written, the property, and
    its value where the words are one of an enumeration."""
    from app.bi.questions.answering import named_in  # large: as above

    return list(named_in(tokens, code, entity))


def nouns_of(code: str) -> dict[str, str]:
    """What people call records in a language, if questions know it -> the type of these."""
    from app.bi.questions.answering import known_nouns  # large: loaded with the first message

    return known_nouns(code)


def _proposed(
    question: str, now: Calendar, before: SessionState | None, page_language: str = ""
) -> Proposal:
    from app.bi.questions.answering import propose, propose_after  # large: as above

    if before is None:
        return propose(question, now, page_language=page_language)
    return propose_after(before.value, question, now, page_language)


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
