"""Numbers as people write them: read where they say one thing, asked where two."""

from __future__ import annotations

from decimal import Decimal

import pytest
from babel import localedata
from babel.numbers import format_decimal
from hypothesis import given, settings, strategies as st

from app.localisation.numbers import (
    AmbiguousNumberError,
    NoNumberError,
    grouped_number,
    read_number,
    readings,
    shown_number,
    signs_for,
    signs_of,
)

GERMAN, ENGLISH = signs_of("de"), signs_of("en-GB")
# Toki Pona groups by two digits: its numbers of four and more are refused, none is misread.
LOCALES = sorted(
    name for name in localedata.locale_identifiers() if name.partition("_")[0] != "tok"
)
NUMBERS = st.decimals(min_value=-(10**9), max_value=10**9, places=4)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1234.5", "1234.5"), ("1,234.50", "1234.50"), ("1.234,50", "1234.50"),
        ("1 234,5", "1234.5"), ("1\u202f234,5", "1234.5"), ("1'234.5", "1234.5"),
        ("1\u2019234.567", "1234.567"), ("0,5", "0.5"), ("0,500", "0.500"),
        ("1,234,567", "1234567"), ("1.234.567", "1234567"), ("-3", "-3"), ("\u22123,5", "-3.5"),
        ("+3", "3"), ("1.2345", "1.2345"), ("1234.567", "1234.567"), ("12,34,567.8", "1234567.8"),
        (",5", "0.5"), ("5.", "5"), ("19", "19"), ("\u0661\u066c\u0662\u0663\u0664\u066b\u0665",
        "1234.5"), ("1.234.567,891", "1234567.891"), ("000123", "123"),
    ],
)  # fmt: skip
def test_a_number_that_is_one_is_read_by_everybody(text: str, number: str) -> None:
    for signs in (None, GERMAN, ENGLISH):
        assert read_number(text, signs) == Decimal(number)


@pytest.mark.parametrize("text", ["1.234", "1,234", "12.500", "999,000", "-1.000", "1\u060c234"])
def test_a_number_that_could_be_two_is_asked_for_with_both(text: str) -> None:
    with pytest.raises(AmbiguousNumberError, match=r"write -?\d{4,6} or -?\d{1,3}\.\d+$") as caught:
        read_number(text)
    _, _, written = str(caught.value).partition("write ")
    numbers = [read_number(each) for each in written.split(" or ")]
    assert numbers == [caught.value.whole, caught.value.broken] and len(set(numbers)) == 2


def test_signs_that_are_known_decide() -> None:
    assert read_number("1.000", GERMAN) == 1000 and read_number("1,000", ENGLISH) == 1000
    assert read_number("1,234", GERMAN) == Decimal("1.234")
    assert read_number("1.234", ENGLISH, places=4) == Decimal("1.234")


def test_more_decimals_than_there_can_be_are_doubted() -> None:
    for text, signs in (("1.000", ENGLISH), ("1,000", GERMAN)):
        for places in (0, 2):
            with pytest.raises(AmbiguousNumberError):
                read_number(text, signs, places)


def test_a_sign_that_the_locale_does_not_know_decides_nothing() -> None:
    for language, text in (("fr", "1.000"), ("pl", "1.234"), ("de-CH", "1,234")):
        with pytest.raises(AmbiguousNumberError):
            read_number(text, signs_of(language))


@pytest.mark.parametrize(
    "text",
    ["", " ", "many", "1.2.3,4,5", "NaN", "Infinity", "1e", "1e5", ",", ".", "--1", "1 23",
     "1,23,4", "0.123.456", "1,2345,678", "1_000", "9" * 61, "(5)", "5-", "12.345.67"],
)  # fmt: skip
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NoNumberError):
        read_number(text)


def test_a_large_number_is_read_as_each_locale_writes_it() -> None:
    number = Decimal(10**9)
    written = {locale: format_decimal(number, locale=locale) for locale in LOCALES}
    assert {read_number(text, signs_of(locale)) for locale, text in written.items()} == {number}


@settings(max_examples=3 * settings().max_examples)
@given(NUMBERS, st.sampled_from(LOCALES), st.sampled_from(("latn", "default")))
def test_what_a_locale_writes_is_read_in_that_locale(
    number: Decimal, locale: str, digits: str
) -> None:
    text = format_decimal(
        number, locale=locale, decimal_quantization=False, numbering_system=digits
    )
    assert read_number(text, signs_of(locale)) == number


@settings(max_examples=3 * settings().max_examples)
@given(NUMBERS, st.sampled_from((None, *LOCALES)))
def test_what_a_page_shows_is_read_again(number: Decimal, locale: str | None) -> None:
    signs = signs_of(locale) if locale else None
    assert read_number(shown_number(number, signs), signs) == number
    for exact in (number, number.normalize()):
        assert read_number(shown_number(exact, signs), signs) == exact
    cents = number.quantize(Decimal("0.01"))
    assert read_number(grouped_number(cents, signs), signs) == cents


@settings(max_examples=3 * settings().max_examples)
@given(st.text("0123456789.,' -", max_size=14))
def test_nothing_that_is_two_numbers_is_taken_without_being_asked(text: str) -> None:
    numbers = set(readings(text).values())
    if len(numbers) == 1:
        assert read_number(text) in numbers
        return
    with pytest.raises(NoNumberError):
        read_number(text)


@pytest.mark.parametrize(
    ("language", "own", "country", "thousand"),
    [
        ("de", "en", None, 1000), ("de", "en", "US", 1000), ("de-AT", "en", None, 1000),
        ("en-DE", "en", None, 1000), ("it", "en", None, 1000),
        ("en-GB", "de", "DE", 1), ("en", "en", "US", 1), ("en", "en", "GB", 1),
        ("de", "en", "CH", 1),
        # Nobody has said it, or the default of the account stands against the organisation.
        ("en", "en", None, None), ("en", "en", "DE", None), ("en", "de", "DE", None),
        ("xx", "en", "DE", None), ("fr", "fr", "FR", None),
    ],
)  # fmt: skip
def test_user_and_organisation_say_how_numbers_are_written(
    language: str, own: str, country: str | None, thousand: int | None
) -> None:
    signs = signs_for(language, own, country)
    if thousand is None:
        with pytest.raises(AmbiguousNumberError):
            read_number("1.000", signs)
    else:
        assert read_number("1.000", signs) == thousand
