"""A question in the making: what its words add up to, for each kind that it may be about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from app.bi.questions.algebra import Against, Threshold, When
from app.bi.questions.lexicon import Options

MOST_FIGURES, MOST_GROUPS, MOST_RESTRICTIONS, MOST_COLUMNS = 4, 3, 8, 8


@dataclass(frozen=True)
class Rank:
    """A superlative: what is ranked (``records``, ``count``, ``figure``), which end, how many.

    ``word`` is its role (``newest``), ``path`` the property of records that it names.
    """

    of: str
    descending: bool
    limit: int
    word: str
    path: Options | None = None


class Draft(NamedTuple):
    """Parts of a meaning; what differs from kind to kind is kept as options until the end."""

    kinds: frozenset[str]
    named: str = ""  # the kind that a noun says
    figures: tuple[Options, ...] = ()
    groups: tuple[Options, ...] = ()
    where: tuple[Options, ...] = ()
    dated: tuple[tuple[When, Options | None], ...] = ()
    against: Against | None = None
    rank: Rank | None = None
    threshold: Threshold | None = None
    columns: tuple[Options, ...] = ()
    flags: frozenset[str] = frozenset()
    leftward: bool = False  # took something on its left: nothing more on its right

    def restricted(self, options: Options, *, left: bool) -> Draft | None:
        """With one more restriction, in the order of the words."""
        kinds = self.kinds.intersection(options.by_kind)
        if not kinds or options in self.where or len(self.where) >= MOST_RESTRICTIONS:
            return None
        where = (options, *self.where) if left else (*self.where, options)
        return self._replace(kinds=kinds, where=where, leftward=self.leftward or left)

    def within(self, when: When, date: Options | None, *, left: bool) -> Draft | None:
        """With one more period."""
        if len(self.dated) > 1 or any(dated[0] == when for dated in self.dated):
            return None
        kinds = self.kinds if date is None else self.kinds.intersection(date.by_kind)
        if not kinds or (self.dated and date is None and self.dated[0][1] is None):
            return None
        dated = ((when, date), *self.dated) if left else (*self.dated, (when, date))
        return self._replace(kinds=kinds, dated=dated, leftward=self.leftward or left)

    def grouped(self, options: Options, *, left: bool) -> Draft | None:
        """With one more group."""
        kinds = self.kinds.intersection(options.by_kind)
        if not kinds or options in self.groups or len(self.groups) >= MOST_GROUPS:
            return None
        groups = (options, *self.groups) if left else (*self.groups, options)
        return self._replace(kinds=kinds, groups=groups, leftward=self.leftward or left)

    def figured(self, options: Options) -> Draft | None:
        """With one more figure."""
        kinds = self.kinds.intersection(options.by_kind)
        if not kinds or options in self.figures or len(self.figures) >= MOST_FIGURES:
            return None
        return self._replace(kinds=kinds, figures=(*self.figures, options))

    def showing(self, options: Options) -> Draft | None:
        """With one more column."""
        kinds = self.kinds.intersection(options.by_kind)
        if not kinds or options in self.columns or len(self.columns) >= MOST_COLUMNS:
            return None
        return self._replace(kinds=kinds, columns=(*self.columns, options))

    def flagged(self, *flags: str) -> Draft:
        """With more marks of what is asked for."""
        return self._replace(flags=self.flags | set(flags))

    @property
    def common_kinds(self) -> frozenset[str]:
        """The kinds that all of it can be said of."""
        all_options = [*self.figures, *self.groups, *self.where, *self.columns]
        all_options += [date for _, date in self.dated if date is not None]
        if self.rank is not None and self.rank.path is not None:
            all_options.append(self.rank.path)
        return self.kinds.intersection(
            *(options_by_kind.by_kind for options_by_kind in all_options)
        )

    @property
    def is_plain(self) -> bool:
        """Whether it is only about records of a kind: no figure, no group, no ranking."""
        return not (self.figures or self.groups or self.rank or self.threshold or self.against)

    @property
    def is_figure(self) -> bool:
        """Whether it has a figure and neither groups nor a ranking."""
        return bool(self.figures) and not (self.groups or self.rank or self.threshold)


def options(key: str, by_kind: dict[str, Any]) -> Options | None:
    """Options by their key; None where no kind has any."""
    return Options(key, by_kind) if by_kind else None
