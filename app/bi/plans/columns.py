"""What the rows of an answer have: columns, figures, a currency."""

from __future__ import annotations

from dataclasses import dataclass

from app.bi.plans.entities import Dimension, Measure
from app.bi.query import Query
from app.bi.words.speech import Speech, capital
from app.money import MOST_DIGITS, USUAL_DIGITS, finest

_METHODS = {"average": "average {figure}", "median": "median {figure}",
            "max": "largest {figure}", "min": "smallest {figure}"}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of the answer: ``name`` as in the rows; ``type`` is text, number, money, percent,
    date, instant, boolean or id; ``currency`` is the one of all its amounts, if it is known."""

    name: str
    label: str
    type: str
    currency: str | None = None


@dataclass(frozen=True)
class Compiled:
    """The query of a plan and what its rows have."""

    query: Query
    columns: tuple[Column, ...]
    figures: tuple[str, ...] = ()  # names of the columns that are figures
    currency: str | None = None  # name of the column with the currency

    @property
    def figure_columns(self) -> list[Column]:
        return [column for column in self.columns if column.name in self.figures]

    @property
    def group_columns(self) -> list[Column]:
        """What the figures are of."""
        return [column for column in self.columns
                if column.name not in (*self.figures, self.currency)]  # fmt: skip


def group_name(dimension: Dimension) -> str:
    """What a dimension is called in a query: a deep path gets a name of its own."""
    if dimension.path.startswith("case("):
        return dimension.name
    if dimension.path.count("/") < 2:
        return dimension.path
    return dimension.name if dimension.name == "country" else f"{dimension.name}Name"


def exact(name: str) -> str:
    """What an average is called before it is rounded."""
    return f"{name}Exact"


def rounded(name: str, places: int = USUAL_DIGITS) -> str:
    """An average with the decimals that most amounts have, as OData computes it."""
    return f"{_rounding(name, places)} as {name}"


def rounded_apart(name: str, currency: str) -> str:
    """An average of amounts in several currencies, more decimals in those that have them.

    Args:
        currency: the property that names the currency of a group.
    """
    codes = ",".join(f"'{code}'" for code in finest())
    more, usual = _rounding(name, MOST_DIGITS), _rounding(name, USUAL_DIGITS)
    return f"case({currency} in ({codes}):{more},true:{usual}) as {name}"


def _rounding(name: str, places: int) -> str:
    step = 10**places
    return f"round({exact(name)} mul {step}) divby {step}"


def method_words(say: Speech, method: str, figure: str) -> str:
    """``median days to pay``, ``percentile 90 of days to pay``."""
    percent = method.removeprefix("percentile")
    if percent != method:
        return say("percentile {percent} of {figure}", percent=percent, figure=figure)
    return say(_METHODS[method], figure=figure) if method in _METHODS else figure


def measure_label(say: Speech, measure: Measure, method: str) -> str:
    """``Average revenue``."""
    return capital(method_words(say, method, say.inside(measure.label)))


def measure_type(measure: Measure) -> str:
    """Whether its figures are money."""
    return "money" if measure.money or measure.worth else "number"
