"""Values in words, and questions as words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from app.money import plain
from app.settings.days import day_of

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[a-z0-9]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ0-9\"'(*])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|z\.B|Dr|Mr|Mrs|No|vs|etc)\.|\b\d+\.)$")


def words_of(text: str) -> list[str]:
    """The words of a message in lower case."""
    return _WORD.findall(text.lower())


def spoken(name: str) -> str:
    """``outstandingBalance`` -> ``outstanding balance``."""
    return _HUMP.sub(" ", name).lower()


def value_text(value: Any, *, currency: str | None = None) -> str:
    """A value as people write it."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if currency is not None and isinstance(value, Decimal | int | float):
        return money_text(Decimal(value), currency)
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return ", ".join(value_text(item) for item in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(str(item) for item in value.values() if item) or "not set"
    text = str(value)
    return day_text(text) if re.fullmatch(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?", text) else text


def quoted(text: str) -> str:
    """A text between quotation marks."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}"


def money_text(amount: Decimal, currency: str) -> str:
    """``1234.5`` -> ``1,234.50 EUR``."""
    return plain(amount, currency)


def day_text(text: str) -> str:
    """``2026-01-31T09:05:00.000Z`` -> ``31 January 2026``."""
    day = day_of(datetime.fromisoformat(text)) if "T" in text else date.fromisoformat(text)
    return f"{day.day} {day:%B %Y}"


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
