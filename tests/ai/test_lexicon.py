"""The words of requests are data: phrases of a few words, a file for each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time
from itertools import product
from typing import Any

import pytest
import time_machine
from flask import Flask
from hypothesis import HealthCheck, given, settings, strategies

from app.ai.due import find_due
from app.ai.free_text import read_text
from app.ai.lexicon import Message, language_of, languages, lexicon_of, spoken

LONGEST = 6
# A Sunday.
NOW = date(2026, 11, 29)


def _phrases(value: Any) -> Iterator[str]:
    """Every text of a file, keys of tables of words among them."""
    if isinstance(value, str):
        yield value
    is_list = isinstance(value, list)
    for item in value.values() if isinstance(value, dict) else value if is_list else ():
        yield from _phrases(item)


@pytest.mark.parametrize("code", languages())
def test_an_entry_is_a_phrase_and_no_pattern(code: str) -> None:
    for text in _phrases(lexicon_of(code).data):
        assert len(text.split()) <= LONGEST, text
        assert not re.search(r"[\\()|*+?^$\[\]]", text), text


@pytest.mark.parametrize(("text", "code"), [
    ("remind me to call Eva", "en"), ("Erinnere mich daran, Eva anzurufen", "de"),
    ("note: they moved", "en"), ("Notiz: sie sind umgezogen", "de"), ("xqzv", "en"),
])  # fmt: skip
def test_the_language_of_a_message_is_that_of_most_of_its_words(text: str, code: str) -> None:
    assert language_of(text) == code


def test_a_message_of_no_language_is_in_that_of_the_conversation() -> None:
    assert language_of("T-000012", "de") == "de"


@pytest.mark.parametrize(("code", "text", "day", "at"), [
    ("en", "call tomorrow at 3 pm", date(2026, 11, 30), time(15)),
    ("en", "call in 3 days", date(2026, 12, 2), None),
    ("en", "call in a week", date(2026, 12, 6), None),
    ("en", "call next friday 9:30", date(2026, 12, 4), time(9, 30)),
    ("en", "call on 5 May", date(2027, 5, 5), None),
    ("en", "call today at 12 am", date(2026, 11, 29), time(0)),
    ("en", "call today at 13 pm", date(2026, 11, 29), None),
    ("en", "call Eva", None, None),
    ("en", f"call in {'9' * 60} days", None, None),
    ("en", f"call tomorrow at {'9' * 60} pm", date(2026, 11, 30), None),
    ("en", "call in 1.5 days at 3.5 pm", None, None),
    ("de", "am Freitag um 15 Uhr anrufen", date(2026, 12, 4), time(15)),
    ("de", "übermorgen anrufen", date(2026, 12, 1), None),
    ("de", "morgen um halb 10 anrufen", date(2026, 11, 30), time(9, 30)),
    ("de", "bis Dienstag anrufen", date(2026, 12, 1), None),
    ("de", "in 2 Wochen anrufen", date(2026, 12, 13), None),
])  # fmt: skip
def test_a_day_and_a_time_are_found(
    app: Flask, code: str, text: str, day: date | None, at: time | None
) -> None:
    with time_machine.travel("2026-11-29T12:00:00Z", tick=False), app.app_context():
        due = find_due(Message(text, lexicon_of(code)), code, NOW)
    assert (due.day, due.at) == (day, at)


@pytest.mark.parametrize(
    ("message", "kind", "text", "due"),
    [
        ('create a task "Call back" for this client due tomorrow', "task", "Call back", 30),
        ("create a task \u201cCall back, or write\u201d", "task", "Call back, or write", None),
        ("Leg eine Aufgabe \u201eZurückrufen\u201c an, bis morgen", "task", "Zurückrufen", 30),
        ("Bitte eine Aufgabe \u00bbAngebot prüfen\u00ab anlegen", "task", "Angebot prüfen", None),
        ('add a note "Wants a discount" to this client', "note", "Wants a discount", None),
        ('add a note: "Acme" is the old name', "note", 'Acme" is the old name', None),
        ('create a task to call "Acme" tomorrow', "task", 'call "Acme', 30),
        ('create a task "Call back', "task", "Call back", None),
    ],
)
@time_machine.travel(NOW, tick=False)
def test_what_stands_in_quotation_marks_is_the_text(
    app: Flask, message: str, kind: str, text: str, due: int | None
) -> None:
    with app.app_context():
        said = read_text(message, language_of(message), kind)
    assert said is not None and said.text == text
    assert (said.due.day.day if said.due.day else None) == due


STRANGE = ("Acme Works", "T-000012", "9" * 60, "0", "-1", "1.5", "2030-02-31", ":", "(", "ß")
WORDS = sorted(
    {*STRANGE, *(text for code in languages() for text in _phrases(lexicon_of(code).data))}
)


@pytest.mark.only_on("sqlite")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(message=strategies.lists(strategies.sampled_from(WORDS), max_size=30).map(" ".join))
def test_whatever_a_message_is_made_of_it_is_read(app: Flask, message: str) -> None:
    with app.app_context():
        for code, kind in product(spoken(), ("task", "note", "mail", "summary")):
            said = read_text(message, code, kind)
            assert said is None or len(said.text) <= len(message) + len(said.head)
