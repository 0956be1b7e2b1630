"""Questions in German are read by the same grammar, in words of another lexicon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from app.bi.answering import answer_question
from app.bi.periods.spans import Calendar
from app.bi.questions.periods import Periods
from app.bi.questions.understanding import language_of, understanding_of
from app.bi.words.tokens import tokenise
from app.extensions import db
from bench.nlq import counts, demonstration, judge
from bench.nlq_cases import GERMAN, read_translations
from bench.nlq_split import split

NOW = Calendar(date(2026, 6, 17))
RIGHT = 88


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The demonstration at the moment that the questions are about."""
    with demonstration(tmp_path_factory.mktemp("german")):
        yield
        for engine in db.engines.values():
            engine.dispose()


@pytest.mark.usefixtures("demo")
def test_as_many_translated_questions_are_right_as_before_and_none_wrong_with_confidence() -> None:
    found = counts([judge(case) for case in read_translations(GERMAN)])
    assert found["right"] >= RIGHT
    assert found["confidently wrong"] == 0


@pytest.mark.usefixtures("demo")
def test_a_german_question_is_answered() -> None:
    answer = answer_question("Wie viele Kunden haben wir?")
    assert (answer["status"], answer["rows"]) == ("answered", [{"count": 500}])


@pytest.mark.usefixtures("demo")
def test_what_goes_on_is_read_in_the_language_of_the_question_before() -> None:
    answer = answer_question("2025", ["Wie viele Rechnungen hatten wir im Mai 2026?"])
    assert "2025-01-01" in answer["query"]["odata"]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("overdue invoices by client", "en"), ("überfällige Rechnungen nach Kunde", "de"),
        ("Ticketzahl dieser Woche", "de"), ("top 5 tickets", "en"), ("2026", "en"),
        ("Hvor mange kunder har vi?", "en"), ("le chiffre d'affaires du mois dernier", "en"),
    ],
)  # fmt: skip
def test_the_language_is_that_of_most_words(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Ticketzahl", ("Ticket", "zahl")), ("Neukunden", ("Neu", "kunden")),
        ("Umsatz", ("Umsatz",)),
        ("Frankenrechnungen", ("Franken", "rechnungen")),
    ],
)  # fmt: skip
def test_a_closed_compound_is_its_parts(word: str, parts: tuple[str, ...]) -> None:
    assert understanding_of("de").lexicon.parts(word) == parts


@pytest.mark.parametrize("forms", ["offen offene offenem offenen", "Rechnung Rechnungen"])
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({understanding_of("de").lexicon.stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("german", "words"),
    [
        ("im letzten Quartal", "in last quarter"), ("seit März", "since march"),
        ("im Vormonat", "in last month"), ("Januar bis März 2026", "january until march 2026"),
        ("in den letzten 30 Tagen", "last 30 days"),
    ],
)  # fmt: skip
def test_periods_are_kept_in_the_words_of_english(german: str, words: str) -> None:
    lexicon = understanding_of("de").lexicon
    tokens = [replace(token, stem=lexicon.stem(token.text)) for token in tokenise(german)]
    periods = Periods(lexicon.reader, NOW, lexicon.english)
    assert words in {one.when.words for one in periods.find(tokens)}


def test_only_questions_of_the_fitting_part_are_translated() -> None:
    fitted = {(one.set_name, str(one.number)) for one in split() if one.part == "fitted"}
    lines = Path(GERMAN).read_text(encoding="utf-8").splitlines()
    assert {tuple(line.split("\t")[1:]) for line in lines} <= fitted
