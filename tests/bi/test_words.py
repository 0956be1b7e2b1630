"""Tokens, numbers, stems, and the repair of misspelt words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from app.bi.questions.understanding import understanding_of
from app.bi.words.tokens import repaired, stem, tokenise


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
     ("tax-free", "taxfree")],
)  # fmt: skip
def test_misspelt_words_are_repaired(written: str, meant: str) -> None:
    (token,) = repaired(tokenise(f"{written}"), understanding_of("en").lexicon.known)
    assert token.stem == meant
    assert token.repaired_from == written


@pytest.mark.parametrize("written", ["überfälig", "überfällllig", "anzal", "rechnugn"])
def test_misspelt_german_words_are_repaired(written: str) -> None:
    lexicon = understanding_of("de").lexicon
    (token,) = repaired([replace(one, stem=lexicon.stem(one.text)) for one in tokenise(written)],
                        lexicon.known)  # fmt: skip
    assert token.repaired_from == written
    assert token.stem[:4] == written[:4]


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


@pytest.mark.parametrize("known", [["waiting", "rating"], ["rating", "waiting"]])
def test_of_two_words_as_near_the_one_that_begins_alike_is_meant(known: list[str]) -> None:
    (token,) = repaired(tokenise("raiting"), known)
    assert token.stem == "rating"


@pytest.mark.parametrize("known", [["ratting", "rasting"], ["rasting", "ratting"]])
def test_of_two_words_as_near_every_process_takes_the_same(known: list[str]) -> None:
    (token,) = repaired(tokenise("rauting"), known)
    assert token.stem == "ratting"
