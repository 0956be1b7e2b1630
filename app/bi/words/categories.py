"""Values of properties that are categories: all of them, and how they are compared with words."""

from __future__ import annotations

import re

from app.bi.query import Query, run
from app.errors import ApiError

MOST_VALUES = 500
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
