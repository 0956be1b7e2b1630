"""Random rows of the model, the same for the same seed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from tests.odata.reading.model import LEVELS

# Pieces that tell apart: case, accents, wildcards, quotes, combining marks, beyond 16 bits, blanks.
_PIECES = (
    "a", "A", "alpha", "Alpha", "BETA", "acme", "é", "e\u0301", "ß", "ss", "Σ", "ς", "İ", "i",
    "日本", "𝄞", "%", "_", "\\", "'", '"', " ", "\t", "0", "10", "Zürich", "\u00a0", "no",
)  # fmt: skip
_SIZES = (0, 1, -1, 2, 5, 7, 100, 2**31 - 1, -(2**31))
_FIRST_DAY = date(1970, 1, 1)


def random_rows(random: Random, items: int = 40, makers: int = 4) -> tuple[list[Any], list[Any]]:
    """Items and makers."""
    maker_rows = [_maker(random, key) for key in range(1, makers + 1)]
    return [_item(random, key, makers) for key in range(1, items + 1)], maker_rows


def _maybe(random: Random, value: Any) -> Any:
    return None if random.random() < 0.25 else value


def _text(random: Random) -> str:
    return "".join(random.choice(_PIECES) for _ in range(random.randrange(4)))[:50]


def _decimal(random: Random, scale: int, most: int) -> Decimal:
    digits = random.choice((1, 3, most))
    units = random.randrange(-(10**digits), 10**digits)
    return Decimal(units).scaleb(-scale)


def _day(random: Random) -> date:
    return random.choice(
        (_FIRST_DAY + timedelta(days=random.randrange(30_000)), date(2024, 2, 29), date(2000, 1, 1))
    )


def _instant(random: Random) -> datetime:
    day = datetime.combine(_day(random), datetime.min.time(), UTC)
    within = random.choice((0, 86_399_999, random.randrange(86_400_000)))
    return day + timedelta(milliseconds=within)


def _maker(random: Random, key: int) -> dict[str, Any]:
    return {
        "id": key,
        "name": _text(random),
        "rank": _maybe(random, random.randrange(-5, 6)),
        "city": _maybe(random, _text(random)),
    }


def _item(random: Random, key: int, makers: int) -> dict[str, Any]:
    return {
        "id": key,
        "version": random.randrange(1, 4),
        "name": _text(random),
        "note": _maybe(random, _text(random)),
        "code": None,
        "size": _maybe(random, random.choice(_SIZES)),
        "count": random.randrange(-3, 9),
        "price": _decimal(random, 2, 9),
        "cost": _maybe(random, _decimal(random, 4, 11)),
        "weight": None,
        "active": random.random() < 0.5,
        "checked": _maybe(random, random.random() < 0.5),
        "made": _maybe(random, _day(random)),
        "at": _instant(random),
        "seen": _maybe(random, _instant(random)),
        "level": random.choice(LEVELS),
        "street": _maybe(random, "High Street 1"),
        "city": _maybe(random, _text(random)),
        "labels": [random.choice(("vip", "new", "50%", "O'x")) for _ in range(random.randrange(3))],
        "lines": [],
        "extra": None,
        "parent_id": _maybe(random, random.randrange(1, key)) if key > 1 else None,
        "maker_id": _maybe(random, random.randrange(1, makers + 1)),
    }
