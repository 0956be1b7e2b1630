"""Messages of the service, which speaks English, in the language of a page.

The service fills its messages in before anybody knows who reads them. What a catalogue has is
recognised by its words: ``must be at most 12`` is ``must be at most %(a)s``. The texts are found
where the service says them (``make texts``), and stand in the catalogues under ``CONTEXT``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache

from babel.dates import format_date

from app.console.language import (
    SOURCE,
    languages,
    marked,
    msgids,
    page_language,
    translated,
    translated_as,
)
from app.console.numbers import page_signs
from app.odata.names import apart
from app.written.numbers import grouped_number

CONTEXT = "service"
_OR = marked("or")
_PLACE = re.compile(r"%\\\((\w)\\\)s")
_NAME = re.compile(r"(?<![\w.])[a-z]+(?:[A-Z][a-z]+)+\b")
_NUMBER = re.compile(r"(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+\.\d+)( [A-Z]{3})?")  # and its currency
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_DIGITS = re.compile(r"\d[.,-]\d")
_BETWEEN = re.compile(r"(?<=\.) (?=[A-Z])")
# Other languages have others, or none: a text is told without them.
_ARTICLES = ("A", "An")
# Fewer letters say too little to stand before several words.
_FEW = 10


def translated_message(message: str) -> str:
    """A message in the language of the page; as it is where the catalogue has none for it."""
    if page_language() == SOURCE:
        return _NAME.sub(lambda name: called(name[0]), _as_the_page_writes(message))
    if (known := translated(message)) != message:
        return known
    sentences = _BETWEEN.split(message)
    if len(sentences) > 1 and all(map(is_known, sentences)):
        return " ".join(map(translated_message, sentences))
    text, values = _recognised(message)
    if not text:
        return message
    places = {name: _value(each) for name, each in values.items()}
    return translated_as(CONTEXT, text, **places).strip()


def _as_the_page_writes(message: str) -> str:
    """An English message with the page's own signs in its amounts and days."""
    text, values = _recognised(message) if _DIGITS.search(message) else ("", {})
    places = {
        name: _value(each) if _NUMBER.fullmatch(each) or _DAY.fullmatch(each) else each
        for name, each in values.items()
    }
    return text % places if text else message


def is_known(message: str) -> bool:
    """Whether it is a message of the service that says what is wrong with a field."""
    return bool(_recognised(message)[0])


def _recognised(message: str) -> tuple[str, Mapping[str, str]]:
    """The text that it was made of, and what stands in its places; an empty one where none fits."""
    for text, pattern in _patterns():
        if match := pattern.fullmatch(message):
            return text, match.groupdict()
    return "", {}


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """What says most stands first."""
    texts = {
        text for each in languages()[1:] for context, text in msgids(each) if context == CONTEXT
    }
    return [
        (text, _pattern(text)) for text in sorted(texts, key=lambda text: (-_weight(text), text))
    ]


def _pattern(text: str) -> re.Pattern[str]:
    part = r"\\S+" if _weight(text) < _FEW else ".+?"
    return re.compile(_PLACE.sub(rf"(?P<\1>{part})", re.escape(text.replace("%%", "%"))), re.DOTALL)


def _weight(text: str) -> int:
    """How many characters of a text are its own."""
    return len(re.sub(r"%\(\w\)s", "", text))


def _value(text: str) -> str:
    """What stands in a place, as the page writes it: a number, a day, a name, another message."""
    if text in _ARTICLES:
        return ""
    if number := _NUMBER.fullmatch(text):
        digits, currency = number.groups(default="")
        return grouped_number(Decimal(digits.replace(",", "")), page_signs()) + currency
    if _DAY.fullmatch(text):
        return format_date(date.fromisoformat(text), "medium", page_language())
    for separator, word in ((", ", ", "), (" or ", f" {translated(_OR)} ")):
        parts = text.split(separator)
        if len(parts) > 1 and not any(" " in part for part in parts):
            return word.join(map(_value, parts))
    return translated_message(text) if " " in text else called(text)


def called(name: str) -> str:
    """A name of the model as people call it: ``issueDate``, ``invoice``, ``ClosedLost``."""
    words = apart(name)
    for text in (words[:1].upper() + words[1:].lower(), words, words.lower()):
        if any((None, text) in msgids(each) for each in languages()[1:]):
            translation = translated(text)
            return translation.lower() if page_language() == SOURCE else translation
    return name
