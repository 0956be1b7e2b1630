"""A question in the making: what its words add up to, for each kind that it may be about.

Whatever is added raises ``TypeMismatchError`` where no kind has it all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from app.bi.questions.algebra import Against, Threshold, When
from app.bi.questions.lexicon import Options
from app.bi.questions.model import TypeMismatchError

FIRST = 10  # of a ranking where no number is said
_MOST = {"figures": 4, "groups": 3, "where": 8, "columns": 8}


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

    def _with(self, slot: str, options: Options, *, left: bool = False) -> Draft:
        """With one more part, in the order of the words; of the kinds that all can be said of."""
        kinds, known = self.kinds.intersection(options.by_kind), getattr(self, slot)
        if not kinds or options in known or len(known) >= _MOST[slot]:
            raise TypeMismatchError(f"no kind has all, or too much is said: {options.key}")
        parts: Any = {slot: (options, *known) if left else (*known, options)}
        return self._replace(kinds=kinds, leftward=self.leftward or left, **parts)

    def restricted(self, options: Options, *, left: bool) -> Draft:
        """With one more restriction."""
        return self._with("where", options, left=left)

    def within(self, when: When, date: Options | None, *, left: bool) -> Draft:
        """With one more period."""
        kinds = self.kinds if date is None else self.kinds.intersection(date.by_kind)
        is_again = len(self.dated) > 1 or any(dated[0] == when for dated in self.dated)
        if not kinds or is_again or (self.dated and date is None and self.dated[0][1] is None):
            raise TypeMismatchError(f"one period too many: {when.words}")
        dated = ((when, date), *self.dated) if left else (*self.dated, (when, date))
        return self._replace(kinds=kinds, dated=dated, leftward=self.leftward or left)

    def grouped(self, options: Options, *, left: bool) -> Draft:
        """With one more group."""
        return self._with("groups", options, left=left)

    def figured(self, options: Options) -> Draft:
        """With one more figure."""
        return self._with("figures", options)

    def showing(self, options: Options) -> Draft:
        """With one more column."""
        return self._with("columns", options)

    def flagged(self, *flags: str) -> Draft:
        """With more marks of what is asked for."""
        return self._replace(flags=self.flags | set(flags))

    def only(self, kinds: Iterable[str]) -> Draft:
        """Of some kinds alone.

        Raises: TypeMismatchError, it is of none of them.
        """
        common = self.kinds.intersection(kinds)
        if not common:
            raise TypeMismatchError("of no kind")
        return self._replace(kinds=common)

    def limited(self, limit: int) -> Draft:
        """So many of what is ranked."""
        return self._replace(rank=self.rank and replace(self.rank, limit=limit))

    def said_of(self, kind: str) -> list[Any]:
        """What is said of records of a kind; None for what is not said of them."""
        return [choices.by_kind.get(kind) for choices in self.where]

    @property
    def events(self) -> list[Options]:
        """What happened to the records, where no period is said."""
        return [date for when, date in self.dated if date and not when.words]

    @property
    def is_undated(self) -> bool:
        """Whether something happened to them, and no period says when."""
        return bool(self.dated) and not any(when.words for when, _ in self.dated)

    @property
    def is_deed(self) -> bool:
        """Whether a verb of the business says what is done."""
        return any(flag.startswith("verb ") for flag in self.flags)

    def has(self, name: str) -> bool:
        """Whether it has a part of this name, or else such a mark."""
        return bool(getattr(self, name)) if hasattr(self, name) else name in self.flags

    @property
    def common_kinds(self) -> frozenset[str]:
        """The kinds that all of it can be said of."""
        all_options = [*self.figures, *self.groups, *self.where, *self.columns]
        all_options += [date for _, date in self.dated if date is not None]
        if self.rank is not None and self.rank.path is not None:
            all_options.append(self.rank.path)
        return self.kinds.intersection(*(choices.by_kind for choices in all_options))

    @property
    def is_plain(self) -> bool:
        """Whether it is only about records of a kind: no figure, no group, no ranking."""
        return not (self.figures or self.groups or self.rank or self.threshold or self.against)

    @property
    def is_records(self) -> bool:
        """Whether a noun says of which kind of records it is, and it is about no more."""
        return bool(self.named) and self.is_plain

    @property
    def is_figure(self) -> bool:
        """Whether it has a figure and neither groups nor a ranking."""
        return bool(self.figures) and not (self.groups or self.rank or self.threshold)


def options(key: str, by_kind: dict[str, Any]) -> Options:
    """Options by their key.

    Raises: TypeMismatchError, no kind has any.
    """
    if not by_kind:
        raise TypeMismatchError(f"of no kind: {key}")
    return Options(key, by_kind)
