"""What was typed into a search: its words, and the pieces of them that a candidate must hold.

A pattern of pieces of at least three letters is written as an FTS5 query for SQLite and as LIKE
conditions for PostgreSQL; both find the same rows by their trigrams. Rows that SQLite's index does
not know yet are looked through.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import idna

from app.errors import ValidationError
from app.models.searched import plain_letters, search_text
from app.writing.normal_forms import email_form, phone_form, tax_id_form

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


SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Holds:
    """The text has ``piece``; ``first``: it begins with it."""

    piece: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class Every:
    """All of the parts."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts."""

    parts: tuple[Pattern, ...]


Pattern = Holds | Every | Either


def as_typed(query: SearchQuery) -> Pattern | None:
    """Every word is there, if only inside another; two letters begin a word.

    A single letter counts for the order alone, unless there is nothing else. None: there are no
    words, so nothing can be found.
    """
    parts = [_exactly(word.text) for word in query.words if len(word.text) > 1]
    if parts:
        words = Every(tuple(parts))
        if query.forms:
            return Either((words, *(Holds(form) for form in query.forms)))
        return words
    return Holds(f" {query.phrase} ") if query.words else None


def tiers(query: SearchQuery) -> tuple[Pattern, ...]:
    """What brings a record forward: it is called so, begins so, every word begins a word."""
    phrase = query.phrase
    begins = f" {phrase}" if len(phrase) > 1 else f" {phrase} "
    words = [word.text for word in query.words if len(word.text) > 1] or [f"{phrase} "]
    return (
        Holds(f" {phrase} \n", first=True),
        Holds(begins, first=True),
        Every(tuple(Holds(f" {word}") for word in words)),
    )


def nearly(query: SearchQuery) -> Iterator[Pattern]:
    """Every word is there with typing errors: first with one in each, then with two in long ones.

    Nothing where no errors are forgiven.
    """
    words = [word for word in query.words if len(word.text) > 1]
    for errors, pieces in ((1, _around_one_error), (2, _around_two_errors)):
        if any(word.typos >= errors for word in words):
            yield Every(
                tuple(
                    Either(tuple(pieces(word.text))) if word.typos >= errors
                    else Either(tuple(_around_one_error(word.text))) if word.typos
                    else _exactly(word.text)
                    for word in words
                )
            )  # fmt: skip


def _exactly(word: str) -> Holds:
    return Holds(word if len(word) >= SHORTEST else f" {word}")


def _around_one_error(word: str) -> Iterator[Pattern]:
    """What is left of a word around an error of two neighbouring letters, wherever it is.

    A gap of three letters at every second place has them all.
    """
    bounded = f" {word} "
    for at in range(1, len(bounded) - 2, 2):
        remainder = (bounded[:at], bounded[at + 3 :])
        pieces = tuple(Holds(piece) for piece in remainder if len(piece) >= SHORTEST)
        if pieces:
            yield pieces[0] if len(pieces) == 1 else Every(pieces)


def _around_two_errors(word: str) -> Iterator[Pattern]:
    """Two errors leave one third of a long word as it is."""
    bounded = f" {word} "
    third = len(bounded) // 3
    yield Holds(bounded[:third])
    yield Holds(bounded[third : 2 * third])
    yield Holds(bounded[2 * third :])


def shape(pattern: Pattern) -> Hashable:
    """What two patterns have in common that differ in their texts alone."""
    if isinstance(pattern, Holds):
        return pattern.first
    return type(pattern).__name__, tuple(shape(part) for part in pattern.parts)


def match_text(pattern: Pattern) -> str:
    """The query for FTS5."""
    if isinstance(pattern, Holds):
        quoted = '"' + pattern.piece.replace('"', '""') + '"'
        return f"^{quoted}" if pattern.first else quoted
    operator = " AND " if isinstance(pattern, Every) else " OR "
    return f"({operator.join(match_text(part) for part in pattern.parts)})"


def like_texts(pattern: Pattern) -> Iterator[str]:
    """The patterns of the LIKE conditions, in the order in which the pieces stand."""
    if isinstance(pattern, Holds):
        escaped = pattern.piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        yield f"{escaped}%" if pattern.first else f"%{escaped}%"
        return
    for part in pattern.parts:
        yield from like_texts(part)


def pieces(pattern: Pattern) -> Iterator[str]:
    """The pieces, in the order in which they stand."""
    if isinstance(pattern, Holds):
        yield pattern.piece
        return
    for part in pattern.parts:
        yield from pieces(part)
