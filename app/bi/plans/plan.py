"""What a question means: a value that compiles to one OData query and to words."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.bi.periods.spans import Period
from app.bi.plans.entities import Dimension, Entity, Measure, Ratio
from app.bi.plans.qualifying import is_own_state
from app.bi.words.speech import ENGLISH, Speech

if TYPE_CHECKING:
    from app.bi.questions.algebra import Threshold


@dataclass(frozen=True)
class Condition:
    """A filter in OData, and what it says, negated or not; of a property of which it names values,
    these."""

    text: str
    words: str
    path: str | None = None
    values: tuple[str, ...] = ()
    negated: bool = False

    @property
    def odata(self) -> str:
        """The filter, negated where it is."""
        return f"not ({self.text})" if self.negated else self.text


@dataclass(frozen=True)
class Figure:
    """One more figure beside the first: a measure and how values become one, or a number."""

    measure: Measure | None
    method: str = "sum"


@dataclass(frozen=True)
class Plan:
    """``kind``: list, count, measure (``method`` of it), share, mean (over groups, of their
    number or measure) or distinct (how many different values)."""

    entity: Entity
    kind: str
    measure: Measure | None = None
    method: str = "sum"
    conditions: tuple[Condition, ...] = ()
    share_of: Condition | None = None
    dimensions: tuple[Dimension, ...] = ()
    grain: str | None = None
    date: str | None = None
    period: Period | None = None
    compared: Period | None = None
    is_reversed: bool = False  # what is asked about is the earlier: "more in May than in June"
    order: str | None = None  # of a list: an OData order
    order_words: str = ""
    ranked_by: str = ""  # what a list is ranked by, where that is neither a date nor an amount
    ranked: str | None = None  # of groups: desc or asc
    limit: int | None = None
    within: tuple[Dimension, ...] = ()  # the limit counts for each of these, and of the grain
    within_grain: bool = False
    assumptions: tuple[str, ...] = ()
    repaired: tuple[tuple[str, str], ...] = ()
    extra_columns: tuple[str, ...] = ()
    asked_columns: tuple[str, ...] = ()  # the columns that are asked for
    amount: str = ""  # of each record of a list: what adds up
    zone: str = "UTC"
    today: datetime.date | None = None
    sort: str | None = None  # of groups: desc or asc, none left out
    chart: str | None = None  # pie, bar, line or table, where one was asked for
    distinct: Dimension | None = None
    threshold: Threshold | None = None  # of groups: those whose figure is so
    figures: tuple[Figure, ...] = ()  # beside the first
    asked: str = ""  # whether it is more or less
    is_converted: bool = False  # amounts into the currency of the organisation
    own: Measure | None = None  # beside the worth of groups that have one currency each
    ratio: Ratio | None = None  # of a share: two sums instead of records that hit
    say: Speech = ENGLISH  # the language of its words

    def with_assumption(self, sentence: str, **parts: object) -> Plan:
        """The plan with one thing more that is taken for granted.

        Args:
            sentence: in English, ``parts`` in braces, which are in the language of the plan.
        """
        return replace(self, assumptions=(*self.assumptions, self.say(sentence, **parts)))

    @property
    def number_of(self) -> str:
        """``Number of tickets``."""
        return self.say("Number of {many}", many=self.say.named(self.entity.many))

    def words_of(self, condition: Condition) -> str:
        return self.say.named(condition.words)

    @property
    def is_within(self) -> bool:
        """Whether the limit counts for each of several groups."""
        return bool(self.within) or self.within_grain

    @property
    def money(self) -> str | None:
        """The property that names the currency of the figures; None where they are no money, or
        converted into one currency."""
        return next((measure.money for measure in self.measures if measure.money), None)

    @property
    def worth(self) -> str | None:
        """The currency that the figures are converted into."""
        return next((measure.worth for measure in self.measures if measure.worth), None)

    @property
    def is_whole(self) -> bool:
        """Whether a sum is also of records that the entity leaves out: from revenue, credit notes
        are deducted, unless a state of the invoices is named."""
        stated = any(
            is_own_state(condition.text) and not condition.negated and condition.words != "issued"
            for condition in self.conditions
        )
        summed = [figure.measure for figure in self.figures if figure.method == "sum"]
        if self.kind in ("measure", "share", "mean") and self.method == "sum":
            summed.append(self.measure)
        return not stated and any(measure is not None and measure.is_whole for measure in summed)

    @property
    def base(self) -> str | None:
        """What is so of all records that count."""
        if not self.is_whole:
            return self.entity.base
        return next(measure.within for measure in self.measures if measure.is_whole)

    @property
    def measures(self) -> list[Measure]:
        measured = self.measure if self.kind in ("measure", "share", "mean") else None
        measures = [measured, *(figure.measure for figure in self.figures)]
        return [measure for measure in measures if measure is not None]
