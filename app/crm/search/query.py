"""What was typed into a search, taken apart into words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import idna

from app.errors import ValidationError
from app.models.searched import plain_letters, search_text
from app.writing.equivalence import email_form, phone_form, tax_id_form

MINIMUM, MAXIMUM = 2, 200
MOST_WORDS = 10
# Words this long may have one or two typing errors; shorter ones and numbers none.
ONE_TYPO, TWO_TYPOS = 4, 8
# A number as people group it, and the shortest part that is looked for inside of one.
_NUMBER = re.compile(r"\+?[0-9][0-9 ()/.\-]*")
SHORTEST_NUMBER = 3
# A tax number as people group it: a country's prefix, most of the rest digits.
_TAX_ID = re.compile(
    r"[A-Za-z]{2,3}[ .\-]?(?=(?:[^0-9]*[0-9]){3})[A-Za-z0-9][A-Za-z0-9 ./\-]{2,20}"
)
# Punctuation inside names and addresses, which people leave out or type otherwise.
_FORGIVEN = frozenset("@.,-'\u2019&/+:;()\"")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in plain form, and how many typing errors are forgiven in it."""

    text: str
    typos: int


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """``query`` as typed; ``phrase`` its plain form; ``literals`` are parts that must stand so.

    A literal has signs such as ``%`` or ``_``, which the index does not know. ``forms`` are what
    the index may have in place of a query that is a number, a part of one, or an address.
    """

    query: str
    phrase: str
    words: tuple[Word, ...]
    literals: tuple[str, ...]
    forms: tuple[str, ...] = ()


def read_query(text: str, country: str | None = None) -> SearchQuery:
    """The words of a search.

    Args:
        country: whose national numbers have no ``+``.
    Raises: ValidationError, it is too short, too long, or has what no text has.
    """
    query = " ".join(text.split())
    if "\0" in query or any("\ud800" <= character <= "\udfff" for character in query):
        raise ValidationError([("q", "has a character that no text has")])
    if not MINIMUM <= len(query) <= MAXIMUM:
        message = f"must have {MINIMUM} to {MAXIMUM} characters"
        raise ValidationError([("q", message)])
    words = tuple(_word(part) for part in search_text(query).split())
    if len(words) > MOST_WORDS:
        raise ValidationError([("q", f"must have at most {MOST_WORDS} words")])
    literals = tuple(token for token in plain_letters(query).split(" ") if _is_literal(token))
    phrase = " ".join(word.text for word in words)
    return SearchQuery(query, phrase, words, literals, tuple(dict.fromkeys(_forms(query, country))))


def _word(text: str) -> Word:
    if any(character.isdigit() for character in text) or len(text) < ONE_TYPO:
        return Word(text, 0)
    return Word(text, 1 if len(text) < TWO_TYPOS else 2)


def _forms(query: str, country: str | None) -> Iterator[str]:
    """``030 90 18 20`` -> ``4930901820`` of the whole number, and its digits without the zeros.

    The zeros before a number are those of a country's own form, or lead out of a country.
    """
    if _NUMBER.fullmatch(query):
        whole = phone_form(query, country)
        digits = "".join(filter(str.isdecimal, query))
        for number in (whole.lstrip("+").partition(";")[0], digits, digits.lstrip("0")):
            if len(number) >= SHORTEST_NUMBER:
                yield number
    elif _TAX_ID.fullmatch(query):
        yield search_text(tax_id_form(query))
        yield "".join(filter(str.isalnum, search_text(query)))
    elif "@" in query.strip("@"):
        address = email_form(query)
        yield search_text(address)
        with suppress(UnicodeError):  # what is no name of a host stays as it is written
            local, _, domain = address.rpartition("@")
            yield search_text(f"{local}@{idna.encode(domain).decode()}")


def _is_literal(token: str) -> bool:
    return any(
        not character.isalnum() and character not in _FORGIVEN and character.isascii()
        for character in token
    )
