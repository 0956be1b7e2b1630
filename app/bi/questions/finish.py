"""A draft made a meaning: what was left open is settled, and the model checks the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from app.bi.questions.algebra import (
    COUNT,
    All,
    Compares,
    Dated,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Known,
    Meaning,
    Method,
    Not,
    Of,
    Ranking,
    Restriction,
    When,
    alternatives_of,
    parts_of,
)
from app.bi.questions.drafts import FIRST, Draft, Rank
from app.bi.questions.lexicon import Options
from app.bi.questions.model import Kind, Model, TypeMismatchError
from app.bi.questions.roles import roles

_BARE = ("usual amount", "amount")  # begin the key of an amount that no word names
UNDATED = "event without a period"  # the feature of what happened, and nobody says when
_WHETHER = frozenset(("done", "verb", "whether"))  # the marks of asking it of somebody
_FEW = 1000  # records that are counted in a group are seldom more


class Finished(NamedTuple):
    """A meaning and what was taken for granted in making it, as features."""

    meaning: Meaning
    features: tuple[str, ...]


def finished(draft: Draft, model: Model) -> Iterator[Finished]:
    """The meanings of a draft, one for each kind that it may be about."""
    for key in sorted(draft.common_kinds):
        try:
            meaning, features = _Finishing(draft, model.kinds[key]).result()
            if "before" not in draft.flags:
                meaning = by_dealings(meaning, model.kinds[key])
                meaning = _undone(draft, meaning, model)
            yield Finished(model.checked(meaning), features)
        except TypeMismatchError:
            continue


def by_dealings(meaning: Meaning, kind: Kind) -> Meaning:
    """The first by an amount that their dealings add up to: those keep the rates of currencies."""
    ranking, dealings = meaning.ranking, kind.data.get("dealings", {})
    if ranking is None or ranking.path not in dealings or ranking.within or meaning.figures:
        return meaning
    if meaning.dated is not None or meaning.columns or not ranking.limit:
        return meaning
    other, figure, group = dealings[ranking.path]
    amounts = {name for name, state in kind.states.items() if state.amount == ranking.path}
    rest = tuple(restriction for restriction in meaning.where
                 if not (isinstance(restriction, Is) and restriction.state in amounts))  # fmt: skip
    return Meaning(
        other, figures=(Figure(figure),), groups=(Group(group),), chart=meaning.chart,
        where=(Of(kind.key, rest),) if rest else (), ranking=replace(ranking, path=""),
    )  # fmt: skip


def _undone(draft: Draft, meaning: Meaning, model: Model) -> Meaning:
    """``has ACME paid``: of whoever is named, the records with which it is still to be done."""
    kind, flags = model.kinds[meaning.kind], {flag.partition(" ")[0] for flag in draft.flags}
    is_open = not (meaning.dated or meaning.groups)
    match meaning.where:
        case (Equals(path, (_,)) as who,) if is_open and "done" in flags <= _WHETHER:
            for verb in kind.data.get("verbs", {}).values():
                other, state = verb.get("undone", ("", ""))
                if other and model.kinds[other].dimensions[verb["subject"]].key == path:
                    return Meaning(other, where=(who, Is(state)))
    return meaning


class _Finishing:
    def __init__(self, draft: Draft, kind: Kind) -> None:
        self.draft, self.kind, self.key = draft, kind, kind.key
        self.features: list[str] = []

    def result(self) -> Finished:
        draft = self.draft
        where = [part for choices in draft.where for part in self._parts(choices)]
        self._check_denied()
        dated, more = self._dates()
        meaning = Meaning(
            self.key,
            figures=tuple(dict.fromkeys(self._figures())),
            groups=tuple(dict.fromkeys(choices.by_kind[self.key] for choices in draft.groups)),
            where=(*where, *more), dated=dated, against=draft.against, threshold=draft.threshold,
            columns=self._columns(),
            chart=next((flag.removeprefix("chart ") for flag in sorted(draft.flags)
                        if flag.startswith("chart")), ""),
            is_converted="converted" in draft.flags,
        )  # fmt: skip
        meaning = self._by_month(self._counted_in(self._split(self._implied(meaning))))
        meaning = self._with_direction(meaning)
        meaning = self._ranked(self._shared(self._mean(self._distinct(meaning))))
        self._note(meaning)
        return Finished(meaning, tuple(self.features))

    # --- parts

    def _figures(self) -> tuple[Figure, ...]:
        draft = self.draft
        figures = tuple(self._figure(choices) for choices in draft.figures)
        if self._is_counted:  # how many of a product: its units
            units = Figure(self.kind.data["counted"])
            figures = tuple(units if figure == Figure(COUNT) else figure for figure in figures)
        if figures or "distinct" in draft.flags:
            return figures
        rank = draft.rank
        wants = draft.groups or draft.threshold or draft.against or "share" in draft.flags
        if rank is not None and rank.of == "records" and not (draft.against or draft.threshold):
            wants = False
        counted = self.kind.data["counted"] if self._is_counted else COUNT
        bare = self.kind.data.get("bare", counted)
        if "share" in draft.flags or (rank is not None and rank.word in ("common", "often")):
            bare = COUNT
        if "called so" in draft.flags and draft.groups:  # "open items by client": how much is due
            bare = self.kind.amount_of(self._stated) or bare
        groups = {choices.by_kind[self.key].dimension for choices in draft.groups}
        if rank is not None and rank.word in ("top", "bottom") and self.kind.person:
            bare = self.kind.data.get("best", bare) if self.kind.person.name in groups else bare
        if rank is not None and rank.of == "figure" and rank.word in ("fastest", "slowest"):
            bare = self._usual_duration
        return (Figure(bare),) if wants else ()

    @property
    def _stated(self) -> tuple[Restriction, ...]:
        """All that words say of the records, one by one."""
        return parts_of(All(tuple(self.draft.said_of(self.key))))

    def _check_denied(self) -> None:
        """``not blocked and inactive`` denies both: the second alone would say the first."""
        denied: set[str] = set()
        for part in self._stated:
            of = part.of if isinstance(part, Not) else part
            path = self.kind.states[of.state].path if isinstance(of, Is) else ""
            if path and of is part and path in denied:
                raise TypeMismatchError("denied, and said of the same property")
            denied.update((path,) if path and of is not part else ())

    @property
    def _is_counted(self) -> bool:
        """Whether one thing is named, of which the units count."""
        named = any(
            isinstance(part, Equals) and part.path == self.kind.name for part in self._stated
        )
        return "counted" in self.kind.data and (named or "called" in self.draft.flags)

    @property
    def _usual_duration(self) -> str:
        """The fastest and the slowest are so by the time that records take, until what is said."""
        dates = [date.by_kind[self.key] for _, date in self.draft.dated if date is not None]
        lasting = {name: figure for name, figure in self.kind.figures.items()
                   if figure.unit and figure.low_is_good}  # fmt: skip
        names = [name for name, figure in lasting.items()
                 if any(f"({date} sub " in figure.value for date in dates)]  # fmt: skip
        names += [name for name, figure in lasting.items() if figure.date]
        if names:
            return names[0]
        raise TypeMismatchError("what is fast takes time")

    def _figure(self, choices: Options) -> Figure:
        """Of records in a state not the whole amount counts, but what is due of it."""
        figure: Figure = choices.by_kind[self.key]
        if self._is_own(choices, figure):
            raise TypeMismatchError("what is named has it itself: the price of a product")
        measure = self.kind.figures.get(figure.measure)
        is_usual = figure.measure == self.kind.usual and choices.key.startswith(_BARE)
        # "written-off debt": how much of it was, whatever the figure is called
        is_other = any(state.amount and state.path for state in self.kind.stated(self._stated))
        if is_usual or (is_other and measure is not None and measure.snapshot):
            return replace(figure, measure=self.kind.amount_of(self._stated) or figure.measure)
        return figure

    def _is_own(self, choices: Options, figure: Figure) -> bool:
        """Whether it is told of the one thing that is named, and not of what was done with it: its
        price, or how much it is."""
        own, stated = self.kind.data.get("own", ()), self._stated
        is_bare = choices.key.startswith(_BARE) and bool(own)
        if figure.method or not (figure.measure in own or is_bare) or not stated:
            return False
        is_named = all(getattr(part, "path", "") == self.kind.name for part in stated)
        return is_named and not (self.draft.groups or self.draft.dated)

    def _parts(self, choices: Options) -> tuple[Restriction, ...]:
        """The restrictions of a phrase; a bare amount is what is due where that counts."""
        parts = parts_of(choices.by_kind[self.key])
        if not choices.key.startswith("amount "):
            return parts
        due = self.kind.amount_of(self._stated)
        usual = self.kind.amount if due else None
        return tuple(replace(part, subject=due) if isinstance(part, Compares)
                     and part.subject == usual else part for part in parts)  # fmt: skip

    def _dates(self) -> tuple[Dated | None, list[Restriction]]:
        """The period that the figures are about, and others as restrictions."""
        events = [date.by_kind[self.key] for date in self.draft.events]
        periods = [(when, date.by_kind[self.key] if date is not None else "")
                   for when, date in self.draft.dated if when.words]  # fmt: skip
        if not periods:
            return None, list(self.kind.happened(events[0])) if events else []
        when, date = periods[-1]
        if not date and events:
            date = events[0]
        if date == self.kind.date:
            undated = self.kind.data.get("undated", {})
            stated = (part.state for part in self._stated if isinstance(part, Is))
            date = next((undated[state] for state in stated if state in undated), date)
        rest: list[Restriction] = [Dated(period, path) for period, path in periods[:-1]]
        return Dated(when, date), rest

    def _columns(self) -> tuple[str, ...]:
        draft = self.draft
        if "distinct" in draft.flags:
            return ()
        columns = [choices.by_kind[self.key] for choices in draft.columns]
        if "when" in draft.flags:
            events = [date.by_kind[self.key] for when, date in draft.dated if date is not None]
            is_known = any(map(self.kind.is_dated, columns))
            columns += events or ([] if is_known else [self.kind.date])
        return tuple(dict.fromkeys(columns))

    def _implied(self, meaning: Meaning) -> Meaning:
        """What only records in one state have: a reason why they were lost."""
        implies = self.kind.data.get("implies", {})
        names = [group.dimension for group in meaning.groups if group.dimension in implies]
        more = [Is(implies[name]) for name in names if Is(implies[name]) not in meaning.where]
        paths = {self.kind.dimensions[name].path: Is(state) for name, state in implies.items()}
        wanted = [part for part in meaning.where
                  if isinstance(part, Known) and paths.get(part.path) in meaning.where]  # fmt: skip
        if wanted and not meaning.figures:  # "lost deals with reason": each of them has one
            meaning = replace(
                meaning, where=tuple(part for part in meaning.where if part not in wanted),
                columns=(*meaning.columns, *(part.path for part in wanted)),
            )  # fmt: skip
        earlier = self.kind.data.get("earlier", {}) if self._is_over else {}
        groups = tuple(replace(group, dimension=earlier.get(group.dimension, group.dimension))
                       for group in meaning.groups)  # fmt: skip
        return replace(
            meaning, groups=groups, where=tuple(map(self._earlier, (*meaning.where, *more)))
        )

    @property
    def _is_over(self) -> bool:
        """Whether the records are in a state in which they are no more what they were before."""
        earlier = self.kind.data.get("earlier", {})
        return any(Is(name) in self._stated for name in earlier.get("when", ()))

    def _earlier(self, restriction: Restriction) -> Restriction:
        """What is over was in a stage before that: deals lost in negotiation."""
        if not self._is_over or not isinstance(restriction, Is):
            return restriction
        earlier, state = self.kind.data["earlier"], self.kind.states[restriction.state]
        if state.path not in earlier or state.value in earlier["but"]:
            return restriction
        return Equals(earlier[state.path], (state.value,), state.value.strip("'"))

    def _split(self, meaning: Meaning) -> Meaning:
        """All members of an enumeration, one by one: ``how many hot, warm, cold``."""
        if meaning.groups or not meaning.figures:
            return meaning
        stated = [(restriction, self.kind.states[part.state]) for restriction in meaning.where
                for part in alternatives_of(restriction)
                if isinstance(part, Is)]  # fmt: skip
        for path in sorted({state.path for _, state in stated} & set(self.kind.dimensions)):
            every = {state.value for state in self.kind.states.values() if state.path == path}
            own_values = {part: state.value for part, state in stated if state.path == path}
            values = {state.value for _, state in stated if state.path == path}
            if len(every) > 2 and every == values:
                rest = tuple(part for part in meaning.where if part not in own_values)
                return replace(meaning, where=rest, groups=(Group(path),))
        return meaning

    def _by_month(self, meaning: Meaning) -> Meaning:
        """``revenue in April, May and June``: of an amount that is not added up each month's."""
        is_listed = "months listed" in self.draft.flags and not meaning.groups
        is_amount = any(
            figure.measure != COUNT and not figure.is_rate for figure in meaning.figures
        )
        is_added_up = "summed" in self.draft.flags and "how much" not in self.draft.flags
        if not (is_listed and is_amount) or is_added_up or "share" in self.draft.flags:
            return meaning
        return replace(meaning, groups=(Group(grain="month"),))

    def _with_direction(self, meaning: Meaning) -> Meaning:
        """Whether it is more is asked of two figures."""
        directions = [flag for flag in self.draft.flags if flag.startswith("asked")]
        if not directions:
            return meaning
        if meaning.against is None and "compared" not in self.draft.flags:
            raise TypeMismatchError("more than what")
        return replace(meaning, asked=directions[0].removeprefix("asked "))

    def _counted_in(self, meaning: Meaning) -> Meaning:
        """A threshold in the unit of its figure: two days are 48 hours."""
        asked_threshold = meaning.threshold
        if asked_threshold is None or not meaning.figures:
            return meaning
        is_none = asked_threshold.number == "0" and asked_threshold.sign in ("eq", "le")
        if is_none and meaning.groups and meaning.figures[0].measure == COUNT:
            raise TypeMismatchError("what has none is no group")
        if not asked_threshold.unit:
            return meaning
        measure = self.kind.figures.get(meaning.figures[0].measure)
        unit = measure.unit if measure is not None else None
        per_day = {"hour": Decimal(1) / 24, "day": Decimal(1), "week": Decimal(7)}
        if asked_threshold.unit == "%":
            if not meaning.figures[0].is_rate and meaning.part is None:
                raise TypeMismatchError("a percentage is one of a rate")
            return meaning
        if unit not in ("hours", "days") or asked_threshold.unit not in per_day:
            raise TypeMismatchError("what is counted in another unit")
        days = Decimal(asked_threshold.number) * per_day[asked_threshold.unit]
        number = days * 24 if unit == "hours" else days
        threshold = replace(asked_threshold, number=f"{number.normalize():f}", unit=unit)
        return replace(meaning, threshold=threshold)

    def _distinct(self, meaning: Meaning) -> Meaning:
        if "distinct" not in self.draft.flags:
            return meaning
        name = self.draft.columns[0].by_kind[self.key]
        return replace(meaning, distinct=name, figures=(), columns=())

    def _mean(self, meaning: Meaning) -> Meaning:
        first = meaning.figures[0] if meaning.figures else Figure(COUNT)
        measure = self.kind.figures.get(first.measure)
        summed = measure is not None and measure.is_whole and first.method == "average"
        if summed and meaning.groups and len(meaning.figures) == 1 and not meaning.ranking:
            meaning = replace(meaning, figures=(replace(first, method=""),))  # of what each has
        elif "mean" not in self.draft.flags:
            return meaning
        if len(meaning.groups) != 1:
            raise TypeMismatchError("an average number is one of groups")
        return replace(meaning, is_mean=True)

    def _shared(self, meaning: Meaning) -> Meaning:
        """The last that is said of the records is the part, the rest is the whole."""
        if "share" not in self.draft.flags or any(figure.is_rate for figure in meaning.figures):
            return meaning
        stated = [part for part in meaning.where
                  if not (isinstance(part, Equals) and part.path.endswith("currency"))]  # fmt: skip
        if not meaning.figures or (not stated and (meaning.groups or not meaning.where)):
            raise TypeMismatchError("a share is one of something")
        *whole, part = meaning.where
        together = parts_of(self.draft.where[-1].by_kind[self.key]) if self.draft.where else ()
        if len(together) > 1 and meaning.where[-len(together) :] == together:
            whole, part = list(meaning.where[: -len(together)]), All(together)
        is_counted = meaning.figures[0].measure == COUNT
        if isinstance(part, Compares) and part.subject == meaning.figures[0].measure:
            meaning = replace(meaning, figures=(Figure(COUNT),))  # "what share employs over 200"
        if is_counted and isinstance(part, Is) and (rate := self._rate(part)):
            return replace(meaning, where=tuple(whole), figures=(Figure(rate, is_rate=True),))
        return replace(meaning, where=tuple(whole), part=part)

    def _rate(self, part: Is) -> str:
        """The rate whose part is this state: what is won is a part of what is decided."""
        hits = self.kind.states[part.state].filter
        return next((name for name, rate in self.kind.rates.items()
                     if rate.hits == hits and rate.among), "")  # fmt: skip

    # --- ranking

    def _ranked(self, meaning: Meaning) -> Meaning:
        rank = self.draft.rank
        if rank is None:
            return meaning
        if rank.of == "records" or (rank.of == "sort" and not meaning.groups):
            return self._records(meaning, rank)
        down = rank.descending
        if rank.of == "sort":
            is_low_good = self._is_low_good(meaning) or any(map(self._is_bad, meaning.where))
            if rank.word in ("bestfirst", "worstfirst") and is_low_good:
                down = not down
            return replace(meaning, ranking=Ranking(down))
        if not meaning.groups:
            return self._extreme(meaning, rank)
        if rank.word in ("top", "bottom", "common") and self._is_low_good(meaning):
            down = not down
        are_several = [choices.are_several for choices in self.draft.groups] == [True]
        limit = rank.limit or (FIRST if are_several or rank.word in ("top", "bottom") else 1)
        if rank.word == "" and not rank.limit:
            limit = 0
        within = len(meaning.groups) > 1
        if within:
            self.features.append("ranked within")
        return replace(meaning, ranking=Ranking(down, limit, within=within))

    def _is_low_good(self, meaning: Meaning) -> bool:
        first = meaning.figures[0] if meaning.figures else Figure(COUNT)
        if first.is_rate:
            return self.kind.rates[first.measure].low_is_good
        measure = self.kind.figures.get(first.measure)
        return measure is not None and measure.low_is_good

    def _is_bad(self, restriction: Restriction) -> bool:
        """Whether the fewer are so, the better: what is lost, breached, disqualified."""
        bad = {rate.hits for rate in self.kind.rates.values() if rate.low_is_good}
        return isinstance(restriction, Is) and self.kind.states[restriction.state].filter in bad

    def _extreme(self, meaning: Meaning, rank: Rank) -> Meaning:
        """``highest invoice amount``: of single records, where there are no groups."""
        if not meaning.figures:
            raise TypeMismatchError("what is ranked are groups")
        first = meaning.figures[0]
        if len(meaning.figures) == 1 and (single := self._single(meaning, first, rank)):
            return single
        named_method = self.draft.figures[0].by_kind[self.key].method if self.draft.figures else ""
        measured = not first.is_rate and first.measure != COUNT and not named_method
        is_extreme = rank.of == "figure" and rank.word in ("highest", "lowest")
        if not is_extreme or not measured or rank.limit:
            raise TypeMismatchError("what is ranked are groups")
        self.features.append("extreme of records")
        method: Method = "max" if rank.descending else "min"
        return replace(meaning, figures=(replace(first, method=method), *meaning.figures[1:]))

    def _single(self, meaning: Meaning, figure: Figure, rank: Rank) -> Meaning | None:
        """``largest amount due on any invoice``: the record with most of it."""
        measure = self.kind.figures.get(figure.measure)
        path = self.kind.path_of(figure.measure)
        named = self.draft.named == self.key and not figure.is_rate and not figure.method
        if not named or rank.word not in ("highest", "lowest") or not self.kind.is_number(path):
            return None
        counted = measure.filter if measure is not None and measure.snapshot else None
        state, where = Is(self.kind.state_with(counted)), meaning.where
        where += (state,) if state.state and state not in where else ()
        ranking = Ranking(rank.descending, rank.limit or 1, path)
        return replace(meaning, figures=(), where=where, ranking=ranking)

    def _records(self, meaning: Meaning, rank: Rank) -> Meaning:
        if meaning.figures:
            raise TypeMismatchError("records have no figures")
        path = rank.path.by_kind[self.key] if rank.path is not None else ""
        down = rank.descending
        if rank.word in ("newest", "oldest", "newestfirst", "oldestfirst"):
            path = meaning.dated.date if meaning.dated is not None else ""
            path = path or self._event()
        elif rank.word == "next":
            path = self._ahead(meaning)
            meaning = replace(meaning, dated=Dated(When("from today on"), path))
        elif not path:
            path = self._amount(meaning)
            if not path:
                raise TypeMismatchError("by what they are ranked")
        if rank.word == "sort" and self.kind.is_number(path):
            down = True
        if rank.word == "put" and not self.kind.is_number(path):
            raise TypeMismatchError("by what they are ranked")
        limit = 0 if rank.limit < 0 else rank.limit or self._usual_limit(rank)
        within = bool(meaning.groups)
        return replace(meaning, ranking=Ranking(down, limit, path, within=within))

    def _ahead(self, meaning: Meaning) -> str:
        """The date that lies ahead: the one that is said, or the first."""
        ahead, event = self.kind.data.get("ahead", ()), self._event()
        if not ahead or meaning.dated is not None:
            raise TypeMismatchError("nothing of it is still to come")
        return event if event in ahead else str(ahead[0])

    def _event(self) -> str:
        """The date that a state or an event of the records names."""
        dates = [date.by_kind[self.key] for _, date in self.draft.dated if date is not None]
        dates += [state.date for state in self.kind.stated(self.draft.said_of(self.key))]
        return next(filter(None, dates), "")

    def _amount(self, meaning: Meaning) -> str:
        if due := self.kind.amount_of(meaning.where):
            return due
        largest = str(self.kind.data.get("largest", ""))
        return "" if self.kind.data.get("unranked") else self.kind.amount or largest

    def _usual_limit(self, rank: Rank) -> int:
        """One of what is named in the singular, or of what a superlative says by itself of those
        before: ``and the largest?``; else a few."""
        flags = self.draft.flags
        is_alone = "before" in flags and "plural" not in flags and rank.word in roles("alone")
        return 1 if "singular" in flags or is_alone else FIRST

    # --- what was taken for granted

    def _note(self, meaning: Meaning) -> None:
        draft, dated = self.draft, meaning.dated
        figures = "figures" if meaning.figures else "records"
        form = next((word for flag, word in (("counted", "counted"), ("list", "listed"))
                      if flag in draft.flags), "bare")  # fmt: skip
        is_count = bool(meaning.figures) and meaning.figures[0].measure == COUNT
        types = {type(restriction) for restriction in meaning.where}
        noted = {
            f"kind unnamed {self.key}": not draft.named,
            "usual time": "usual time" in draft.flags,
            UNDATED: draft.is_undated,
            "kind open": bool(draft.named) and len(draft.kinds) > 1,
            f"{figures} {form}": True,
            "count for granted": is_count and form != "counted",
            "date for granted": dated is not None and not dated.date,
            "usual date": dated is not None and dated.date == self.kind.date,
            "list of one figure": "list" in draft.flags and meaning.figures and not meaning.groups,
            f"columns {min(len(meaning.columns), 3)}": meaning.columns,
            "groups": meaning.groups and not meaning.ranking,
            f"ranking {draft.rank.word if draft.rank else ''} of {figures}": meaning.ranking,
            "count of thousands": is_count
            and draft.threshold is not None
            and Decimal(draft.threshold.number) >= _FEW,
            "negated": Not in types,
            "related": Has in types,
            "number": Compares in types,
            "part": meaning.part,
            "against unsaid": meaning.against is not None
            and draft.flags.isdisjoint(("compared", "asked more", "asked less")),
        }
        self.features += [feature for feature, is_so in noted.items() if is_so]
