"""Values in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from babel.dates import format_date

from app.bi.plans.entities import spoken
from app.bi.words.speech import Speech
from app.container.words import label_text
from app.localisation.catalogue import SOURCE, marked, text_in
from app.money import plain
from app.settings.days import NOON, day_of, zone

_NOT_SET, _NONE = marked("not set"), marked("none")
_AT = marked(" at %(time)s")
_YES, _NO = marked("yes"), marked("no")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ0-9\"'(*])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|z\.B|Dr|Mr|Mrs|No|vs|etc)\.|\b\d+\.)$")


def label(name: str, language: str = SOURCE) -> str:
    """What a property is called within a sentence: ``outstanding balance``, ``Offener Saldo``."""
    return spoken(name) if language == SOURCE else label_text(name, language)


def value_text(value: Any, language: str = SOURCE, *, currency: str | None = None) -> str:
    if value is None:
        return text_in(language, _NOT_SET)
    if isinstance(value, bool):
        return text_in(language, _YES if value else _NO)
    if currency is not None and isinstance(value, Decimal | int | float):
        return Speech(language, {}).digits(plain(Decimal(value), currency))
    if isinstance(value, Decimal):
        return Speech(language, {}).digits(f"{value:,f}")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return ", ".join(value_text(item, language) for item in value) or text_in(language, _NONE)
    if isinstance(value, Mapping):
        texts = [str(item) for item in value.values() if item]
        return ", ".join(texts) or text_in(language, _NOT_SET)
    text = str(value)
    is_day = re.fullmatch(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?", text)
    return day_text(text, language) if is_day else text


def day_text(text: str, language: str = SOURCE) -> str:
    """``2026-01-31T09:05:00.000Z`` -> ``31 January 2026``, ``31. Januar 2026``."""
    day = day_of(datetime.fromisoformat(text)) if "T" in text else date.fromisoformat(text)
    return format_date(day, "d MMMM y" if language == SOURCE else "long", language)


def instant_text(text: str, language: str = SOURCE) -> str:
    """The day and the time; noon is that of a day for which no time was said."""
    at = datetime.fromisoformat(text).astimezone(zone())
    time = "" if (at.hour, at.minute) == (NOON, 0) else text_in(language, _AT, time=f"{at:%H:%M}")
    return f"{day_text(text, language)}{time}"


def sentences(text: str) -> list[str]:
    """The sentences of a plain text; a line is at least one."""
    pieces: list[str] = []
    for line in text.split("\n"):
        pending = ""
        for piece in _SENTENCE.split(line.strip()):
            pending = f"{pending} {piece}".strip()
            if not _ABBREVIATION.search(pending):
                pieces.append(pending)
                pending = ""
        if pending:
            pieces.append(pending)
    return [sentence for sentence in pieces if sentence]
