"""Messages of the service, which speaks English, in the language of who reads them.

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

from app.localisation.catalogue import SOURCE, catalogue_of, languages, marked, msgids, text_in
from app.localisation.numbers import Signs, grouped_number
from app.odata.names import apart

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


def message_in(language: str, message: str, signs: Signs | None = None) -> str:
    """A message in a language; as it is where the catalogue has none for it.

    Args:
        signs: in which the reader writes numbers.
    """
    if language == SOURCE:
        return _NAME.sub(lambda name: called_in(SOURCE, name[0]), _with_signs(message, signs))
    if (known := text_in(language, message)) != message:
        return known
    sentences = _BETWEEN.split(message)
    if len(sentences) > 1 and all(map(is_known, sentences)):
        return " ".join(message_in(language, each, signs) for each in sentences)
    text, values = _recognised(message)
    if not text:
        return message
    places = {name: _value(language, each, signs) for name, each in values.items()}
    return (catalogue_of(language).pgettext(CONTEXT, text) % places).strip()


def _with_signs(message: str, signs: Signs | None) -> str:
    """An English message with the reader's own signs in its amounts and days."""
    text, values = _recognised(message) if _DIGITS.search(message) else ("", {})
    places = {
        name: _value(SOURCE, each, signs)
        if _NUMBER.fullmatch(each) or _DAY.fullmatch(each)
        else each
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


def _value(language: str, text: str, signs: Signs | None) -> str:
    """What stands in a place: a number, a day, a name, another message."""
    if text in _ARTICLES:
        return ""
    if number := _NUMBER.fullmatch(text):
        digits, currency = number.groups(default="")
        return grouped_number(Decimal(digits.replace(",", "")), signs) + currency
    if _DAY.fullmatch(text):
        return format_date(date.fromisoformat(text), "medium", language)
    for separator, word in ((", ", ", "), (" or ", f" {text_in(language, _OR)} ")):
        parts = text.split(separator)
        if len(parts) > 1 and not any(" " in part for part in parts):
            return word.join(_value(language, part, signs) for part in parts)
    return message_in(language, text, signs) if " " in text else called_in(language, text)


def called_in(language: str, name: str) -> str:
    """A name of the model as people call it: ``issueDate``, ``invoice``, ``ClosedLost``."""
    words = apart(name)
    for text in (words[:1].upper() + words[1:].lower(), words, words.lower()):
        if any((None, text) in msgids(each) for each in languages()[1:]):
            translation = text_in(language, text)
            return translation.lower() if language == SOURCE else translation
    return name
