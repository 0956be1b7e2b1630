"""What a session keeps is a meaning: read as it was written, on another day of that day."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from flask import Flask
from hypothesis import given, settings, strategies as st
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.bi.periods.spans import Calendar
from app.bi.plans.compiling import compiled
from app.bi.questions.algebra import Figure, Has, Meaning, Not
from app.bi.questions.answering import propose
from app.bi.questions.stored import FORGOTTEN, VERSION, Standing, read, written
from app.db import records
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.report import QuestionSession
from tests.bi.conftest import Ask

MEANING = Meaning(
    "Clients", (Figure("count"),), where=(Not(Has("Invoices", sign="gt", number="2")),)
)


def changed(**told: object) -> dict[str, Any]:
    """What is kept of a meaning, with some of its parts written otherwise."""
    kept = json.loads(json.dumps(written(Standing(MEANING))))
    kept["standing"]["meaning"] |= told
    return kept


@settings(max_examples=25, deadline=None)
@given(st.from_type(Standing))
def test_what_is_written_is_read_the_same(standing: Standing) -> None:
    assert read(json.loads(json.dumps(written(standing)))) == standing


@pytest.mark.parametrize("kept", [
    None, "overdue invoices", ["overdue invoices"], {}, {"version": VERSION + 1},
    changed() | {"version": VERSION - 1}, changed() | {"standing": None}, changed(kind=7),
    changed(kind=None), changed(shape="round"), changed(figures=[{"is": "Figure"}]),
    changed(where=[{"is": "Sung", "of": "them"}]), changed(where={"is": "Is", "state": "open"}),
    changed(dated={"is": "When", "words": "May"}), changed(is_mean="yes"),
    changed(where=[{"is": "Has", "kind": "Invoices", "sign": "much"}]),
], ids=lambda kept: json.dumps(kept)[:60])  # fmt: skip
def test_what_another_version_wrote_is_forgotten(kept: object) -> None:
    assert read(kept) is FORGOTTEN


def test_a_session_keeps_what_was_meant_and_no_question(
    business: None, ask: Ask, session: Session
) -> None:
    answer = ask("open tickets by priority")
    kept = session.execute(select(QuestionSession.standing, QuestionSession.questions)).one()
    meaning = read(kept.standing).meaning
    assert meaning is not None and meaning.kind == "Tickets" and kept.questions == []
    assert "by priority" not in json.dumps(kept.standing)
    assert ask("how many", sessionId=answer["sessionId"])["status"] == "answered"


@pytest.mark.parametrize("kept", [None, {"version": 0}, changed(kind="Songs")],
                         ids=["of before", "another version", "no such kind"])  # fmt: skip
def test_what_is_no_longer_known_is_said(
    app: Flask, business: None, ask: Ask, kept: object
) -> None:
    key = ask("open tickets")["sessionId"]
    with app.app_context(), transaction():
        records.connection().execute(update(QuestionSession).values(standing=kept))
    answer = ask("and last month?", sessionId=key)
    assert answer["status"] == "unsupported" and "no longer known" in answer["answer"]
    assert ask("open tickets by priority", sessionId=key)["status"] == "answered"
    assert "priority" in ask("as a pie chart", sessionId=key)["query"]["odata"]


def test_a_period_is_resolved_on_the_day_of_the_last_question(app: Flask) -> None:
    first, later = date(2026, 6, 17), date(2026, 7, 2)
    with app.app_context(), acting_as(system_caller("test")):
        standing = propose("won deals this month", Calendar(first)).understood.standing
        told = propose("by owner", Calendar(later), read(written(standing)))
        address = compiled(told.plans[0]).query.url
    assert "2026-07-01" in address and "2026-06" not in address


def test_a_follow_up_reads_no_question_but_its_own(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.bi.questions.reading import Reader

    seen: list[str] = []
    plain: Callable[..., Any] = Reader.read

    def noted(self: Reader, question: str, *more: Any, **named: Any) -> Any:
        seen.append(question)
        return plain(self, question, *more, **named)

    with app.app_context(), acting_as(system_caller("test")):
        standing = propose("open tickets", Calendar(date(2026, 6, 17))).understood.standing
        monkeypatch.setattr(Reader, "read", noted)
        propose("by priority", Calendar(date(2026, 6, 17)), standing)
    assert set(seen) == {"by priority"}
