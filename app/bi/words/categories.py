"""Values of properties that are categories: all of them, and how they are compared with words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from app.bi.query import Query, run
from app.bi.words.spelling import spelt
from app.bi.words.tokens import phrase
from app.errors import ApiError

MOST_VALUES = 500
Written = tuple[str, ...] | str  # a name: its words, or all its letters together
_BETWEEN_LETTERS = re.compile(r"[\W_]|(?<=\s)and(?=\s)")


def distinct(set_name: str, path: str, join: str | None = None) -> list[str]:
    """The different values of a property, if they are not too many to be categories."""
    joined = f"join({join})/" if join else ""
    apply = f"{joined}compute({path} as v)/groupby((v))"
    try:
        rows = run(Query(set_name, {"apply": apply, "top": str(MOST_VALUES)}), MOST_VALUES).rows
    except ApiError:
        return []
    return [row["v"] for row in rows if row["v"]]


def together(text: str) -> str:
    """``Health care`` and ``healthcare`` alike, ``Food and drink`` and ``food & drink``."""
    return _BETWEEN_LETTERS.sub("", text.lower())


@lru_cache(maxsize=64)
def placed(names: tuple[str, ...]) -> Mapping[Written, int]:
    """The first place of each name, by its words, its letters, and how it may be spelt."""
    places: dict[Written, int] = {}
    for at, name in enumerate(names):
        places.setdefault(phrase(name), at)
        places.setdefault(together(name), at)
        for form in spelt(name):
            places.setdefault(form, at)
    return places
