"""Tokens, numbers, stems, and the repair of misspelt words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest

from app.bi.questions.understanding import understanding_of
from app.bi.words.tokens import Token, repaired, stem, tokenise
from app.search import slips
from bench.nlq_cases import GERMAN, QUESTIONS, read_cases, read_wordings


@pytest.mark.parametrize(
    ("text", "number"),
    [("5,000", 5000), ("5.000", 5000), ("10k", 10000), ("1.5m", 1500000), ("50%", 50), ("007", 7),
     ("12.75", Decimal("12.75")), ("1,234,567.89", Decimal("1234567.89")),
     ("12,5 %", Decimal("12.5")), ("1.234,50", Decimal("1234.5")), ("1'234.50", Decimal("1234.5")),
     ("1 234,5", Decimal("1234.5")), ("0.000.000", 0), (f"{7:080}", 7)],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(text: str, number: int) -> None:
    (token,) = tokenise(text)
    assert token.number == number


@pytest.mark.parametrize(
    ("word", "expected"),
    [("breaches", "breach"), ("taxes", "tax"), ("Invoices", "invoice"), ("countries", "country"),
     ("status", "status"), ("client's", "client"),     ("this", "this"), ("business", "business")],
)  # fmt: skip
def test_the_plural_is_taken_away(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("written", "meant"),
    [("ticktes", "ticket"), ("invocies", "invoice"), ("oportunities", "opportunity"),
     ("custmers", "customer"), ("revnue", "revenue"), ("quater", "quarter"), ("overdu", "overdue"),
     ("taks", "task"), ("tikcets", "ticket"), ("cleint", "client"),
     ("monht", "month"), ("invoicee", "invoice"), ("claent", "client"), ("wek", "week")],
)  # fmt: skip
def test_misspelt_words_are_repaired(written: str, meant: str) -> None:
    token = _read(written, "en")
    assert token.stem == meant
    assert token.repaired_from == written


@pytest.mark.parametrize("written", ["überfälig", "überfällllig", "anzal", "rechnugn", "zahlugen"])
def test_misspelt_german_words_are_repaired(written: str) -> None:
    token = _read(written, "de")
    assert token.repaired_from == written
    assert token.stem[:4] == written[:4]


def _read(word: str, code: str) -> Token:
    """A word as a question of a language has it."""
    lexicon = understanding_of(code).lexicon
    (token,) = repaired([replace(one, stem=lexicon.form(one.text)) for one in tokenise(word)],
                        lexicon.known, lexicon.stem)  # fmt: skip
    return token


def _damaged(word: str, slip: str, random: Random) -> str:
    at = random.randrange(len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    match slip:
        case "transposed":
            return before + after[0] + letter + after[1:]
        case "missing":
            return before + after
        case "doubled":
            return before + letter * 2 + after
        case _:
            return before + random.choice(sorted(slips.NEAR[letter]) or [letter]) + after


@pytest.mark.parametrize("slip", ["transposed", "missing", "doubled", "neighbour"])
@pytest.mark.parametrize("code", ["en", "de"])
def test_of_damaged_words_few_are_taken_for_others(code: str, slip: str) -> None:
    cases = read_cases(QUESTIONS) if code == "en" else read_wordings(GERMAN)
    asked = {word for case in cases for word in case.question.lower().split()}
    random, found = Random(4), Counter[str]()
    for word in sorted(word for word in asked if len(word) > 3 and word.isalpha()):
        meant, read = _read(word, code), _read(written := _damaged(word, slip, random), code)
        if meant.repaired_from is None and meant.stem in understanding_of(code).lexicon.known:
            kind = "right" if read.stem == meant.stem else "wrong" if read.repaired_from else "left"
            found[kind if written != word else "same"] += 1
    assert found["right"] > (0.7 if slip == "missing" else 0.85) * found.total()
    assert found["wrong"] < 0.08 * found.total()


def test_words_in_other_letters_are_no_slips() -> None:
    (token,) = repaired(tokenise("тicket"), understanding_of("en").lexicon.known)
    assert token.repaired_from is None


def test_words_with_a_hyphen_are_two_where_only_those_are_known() -> None:
    known = understanding_of("en").lexicon.known
    assert [one.stem for one in repaired(tokenise("closed-won"), known)] == ["closed", "won"]
    assert [one.stem for one in repaired(tokenise("Hewlett-Packard"), known)] == ["hewlett-packard"]


def test_a_comma_sets_words_apart() -> None:
    assert [one.apart for one in tokenise("by client, industry")] == [False, False, True]


@pytest.mark.parametrize("word", ["show", "Acme", "haben", "Kunden", "weather", "margin", "api"])
def test_other_words_are_left_alone(word: str) -> None:
    _, second = repaired(tokenise(f"the {word}"), understanding_of("en").lexicon.known)
    assert second.repaired_from is None


@pytest.mark.parametrize("known", [{"waiting": 5, "rating": 5}, {"rating": 5, "waiting": 5}])
def test_the_likelier_slip_is_undone(known: dict[str, int]) -> None:
    (token,) = repaired(tokenise("arting"), known)
    assert token.stem == "rating"


@pytest.mark.parametrize(("usual", "taken"), [(5, "rauting"), (9, "rayting")])
def test_of_two_words_as_near_the_much_more_usual_is_meant(usual: int, taken: str) -> None:
    (token,) = repaired(tokenise("rauting"), {"raiting": 5, "rayting": usual})
    assert token.stem == taken
