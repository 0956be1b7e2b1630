"""The canonical functions of the standard and how many arguments each takes."""

from __future__ import annotations

import difflib
import typing as t
from collections.abc import Iterable

# URL Conventions 4.01, 5.1.1.5 to 5.1.1.11; isdefined is of Data Aggregation 4.0.
# case, cast and isof have arguments of their own kind: parser_calls.py.
ARGUMENT_COUNTS: t.Final[dict[str, tuple[int, int]]] = {
    "concat": (2, 2),
    "contains": (2, 2),
    "endswith": (2, 2),
    "indexof": (2, 2),
    "length": (1, 1),
    "matchespattern": (2, 2),
    "startswith": (2, 2),
    "substring": (2, 3),
    "tolower": (1, 1),
    "toupper": (1, 1),
    "trim": (1, 1),
    "hassubset": (2, 2),
    "hassubsequence": (2, 2),
    "date": (1, 1),
    "day": (1, 1),
    "fractionalseconds": (1, 1),
    "hour": (1, 1),
    "maxdatetime": (0, 0),
    "mindatetime": (0, 0),
    "minute": (1, 1),
    "month": (1, 1),
    "now": (0, 0),
    "second": (1, 1),
    "time": (1, 1),
    "totaloffsetminutes": (1, 1),
    "totalseconds": (1, 1),
    "year": (1, 1),
    "ceiling": (1, 1),
    "floor": (1, 1),
    "round": (1, 1),
    "geo.distance": (2, 2),
    "geo.intersects": (2, 2),
    "geo.length": (1, 1),
    "isdefined": (1, 1),
}


def describe_count(least: int, most: int) -> str:
    """``2 arguments``, ``1 argument``, ``no arguments``, ``2 or 3 arguments``."""
    if least != most:
        return f"{least} or {most} arguments"
    if most == 0:
        return "no arguments"
    return "1 argument" if most == 1 else f"{most} arguments"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` if one of ``known`` is much like ``name``, in whatever case."""
    spelled = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.75)
    return f"; did you mean '{spelled[close[0]]}'?" if close else ""
