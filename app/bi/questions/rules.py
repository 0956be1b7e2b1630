"""How the meanings of neighbours become one: the rules that ``rules.toml`` writes down.

A rule answers None, or raises ``TypeMismatchError``, where the types disagree. Most take their
parts in either order: what stands before or behind is English or German, not meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache, partial, wraps
from itertools import chain, product
from typing import Any, NamedTuple

from app.bi.questions.algebra import (
    COUNT,
    OR,
    PERCENTILES,
    Against,
    All,
    Compares,
    Dated,
    Either,
    Equals,
    Figure,
    Group,
    Has,
    Is,
    Known,
    Mentions,
    Method,
    Not,
    Of,
    Restriction,
    Sign,
    Tagged,
    Threshold,
    When,
    alternatives_of,
    inner,
    parts_of,
)
from app.bi.questions.chart import Rule
from app.bi.questions.drafts import FIRST, Draft, Rank, options
from app.bi.questions.lexicon import Lexicon, Options
from app.bi.questions.model import Kind, State, TypeMismatchError
from app.bi.questions.periods import (
    ago,
    all_before,
    both,
    coming,
    is_lasting,
    is_long_ago,
    since_then,
    unit_of_age,
)
from app.bi.questions.roles import goes_down, roles
from app.bi.words.tokens import stem
from app.localisation.data_files import data_beside
from app.settings import organisation

_SIGNS: Mapping[str, Sign] = {
    "more": "gt", "atleast": "ge", "less": "lt", "atmost": "le", "exactly": "eq",
    "ormore": "ge", "orless": "le",
}  # fmt: skip
_METHODS: Mapping[str, Method] = {
    "average": "average", "median": "median", "maximum": "max", "minimum": "min", "highest": "max",
    "lowest": "min",
    **dict(zip(PERCENTILES, PERCENTILES, strict=True)),
}  # fmt: skip
_NONE = "no related "  # begins the key of what has none of other records
_NEVER = "never "  # or did not do something
_TOLD = " told "  # in the key of a figure that another word says how to tell: net, gross
_USUAL = "usual amount "  # begins the key of the usual figure of each kind


def _same(*parts: Any) -> Any:
    return parts if len(parts) > 1 else parts[0]


def _spread(compose: Callable[..., Any], *, left: bool, right: bool) -> Callable[..., Any]:
    """The same of two parts, the ``left`` or ``right`` of which is several that came together."""
    if not (left or right):
        return compose
    return lambda first, others: compose(*(first if left else (first,)),
                                         *(others if right else (others,)))  # fmt: skip


def _draft_of(parts: Sequence[Any]) -> Draft:
    return next(part for part in parts if isinstance(part, Draft))


def _fitting(rule: Mapping[str, Any], compose: Callable[..., Any]) -> Callable[..., Any]:
    """What a rule makes of the parts that it keeps; None where their types disagree, or the draft
    among them has not all parts and flags that it needs, or some that it may not have."""
    unless, needs = (tuple(filter(None, rule.get(key, "").split(", ")))
                     for key in ("unless", "needs"))  # fmt: skip
    keeps, is_open = rule.get("keeps"), not (unless or needs)

    def composed(*parts: Any, **sides: bool) -> Any:
        own_parts = parts if keeps is None else [parts[at] for at in keeps]
        draft = None if is_open else _draft_of(own_parts)
        if draft and not (all(map(draft.has, needs)) and not any(map(draft.has, unless))):
            return None
        try:
            return compose(*own_parts, **sides)
        except TypeMismatchError:
            return None

    return composed


def _of_each(key: str) -> Callable[[Callable[..., Any]], Callable[..., Options]]:
    """A rule by what it makes of the meaning for each kind, with its other parts behind; what is
    nothing for a kind is left out. ``key`` names its parts by their places.

    Raises: TypeMismatchError, it is nothing for all of them.
    """

    def rule(of: Callable[..., Any]) -> Callable[..., Options]:
        @wraps(of)
        def composed(grammar: Grammar, *parts: Any) -> Options:
            at, part = next(
                (at, part) for at, part in enumerate(parts) if isinstance(part, Options)
            )
            others = (*parts[:at], *parts[at + 1 :])
            meanings = {name: of(grammar, grammar.kinds[name], value, *others)
                        for name, value in part.by_kind.items()}  # fmt: skip
            by_kind = {name: meaning for name, meaning in meanings.items() if meaning}
            return replace(options(key.format(*parts), by_kind), are_several=part.are_several)

        return composed

    return rule


Categories = tuple[str, ...]


class Number(NamedTuple):
    """A number with what it is counted in: a unit of time, ``%``, or a currency."""

    text: str
    unit: str = ""
    currency: str = ""


class Bound(NamedTuple):
    """More, less or as many as a number; ``upper``: up to another one."""

    sign: Sign
    number: Number
    upper: Number | None = None


_NUMBERS = {
    "half": Number("50", "%"), "quarter_part": Number("25", "%"), "once": Number("1", "times"),
    "twice": Number("2", "times"),
}  # fmt: skip


@lru_cache(maxsize=1)
def rules_data() -> Mapping[str, Mapping[str, Any]]:
    """The file that says what each rule combines, makes and means."""
    return data_beside(__file__, "rules.toml")


class Grammar:
    """The rules over the kinds of a model."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.kinds: Mapping[str, Kind] = lexicon.model.kinds
        self._lexicon = lexicon
        self.rules: dict[tuple[str, str], list[Rule]] = defaultdict(list)
        self.lifts: dict[str, list[tuple[str, str, Callable[[Any], Any]]]] = defaultdict(list)
        for name, rule in rules_data()["rules"].items():
            for categories in product(*(part.split("|") for part in rule["parts"])):
                self._add(name, rule, tuple(filter(None, categories)))
        for name, rule in rules_data()["lifts"].items():
            for category in rule["part"].split("|"):
                self.lifts[category].append((name, rule["makes"], self._made_by(name, rule)))

    def _made_by(self, name: str, rule: Mapping[str, Any]) -> Callable[..., Any]:
        """What makes the meaning: the method that the rule names, or that is named like it."""
        if flag := rule.get("flag"):
            return _fitting(rule, lambda *parts: _draft_of(parts).flagged(flag))
        does = rule.get("does", "" if len(rule.get("keeps", ())) == 1 else name)
        return _fitting(rule, getattr(self, does) if does else _same)

    def _together(self, categories: Categories) -> str:
        """The category of parts of a rule that stand together, whose meanings are a tuple."""
        first, *others = categories
        if not others:
            return first
        name, other = " + ".join(categories), self._together(tuple(others))
        if all(rule.result != name for rule in self.rules[first, other]):
            row = _spread(lambda *parts: parts, left=False, right=len(others) > 1)
            self.rules[first, other].append(Rule("", first, other, name, row))
        return name

    def _add(self, name: str, rule: Mapping[str, Any], categories: Categories) -> None:
        """A rule, and where the order of its parts is free, the same with the first one behind.

        Of more than two parts those behind the first come together, or a word that stands first and
        what follows it.
        """
        makes, order = rule["makes"].replace("=", categories[0]), rule.get("order", "")
        at = 2 if len(categories) > 2 and not order and categories[0].startswith("f:") else 1
        left, right = self._together(categories[:at]), self._together(categories[at:])
        compose = after = before = self._made_by(name, rule)
        if order == "around":
            after, before = partial(compose, left=False), partial(compose, left=True)
        after, before = (
            _spread(each, left=at > 1, right=len(categories) - at > 1) for each in (after, before)
        )
        if not order:
            self.rules[left, right].append(Rule(name, left, right, makes, after))
            return

        def first_before(first: Any, others: Any) -> Any:
            is_closed = isinstance(first, Draft) and first.leftward
            return None if is_closed else after(first, others)

        def first_behind(others: Any, first: Any) -> Any:
            return before(first, others)

        self.rules[left, right].append(Rule(name, left, right, makes, first_before))
        self.rules[right, left].append(Rule(f"{name} before", right, left, makes, first_behind))

    # --- what a word stands for by itself

    def of_kind(self, named_kind: tuple[str, bool]) -> Draft:
        kind, is_one = named_kind
        return Draft(frozenset((kind,)), kind, flags=frozenset(("singular",) if is_one else ()))

    def of_state_alone(self, part: Options) -> Draft:
        return _being(part, flags=frozenset(("state alone",)))

    def of_named(self, named_as: tuple[Options, bool]) -> Draft:
        part, is_one = named_as
        named = next(iter(part.by_kind)) if len(part.by_kind) == 1 else ""
        flags = frozenset(("called so", *(("singular",) * is_one)))
        return _being(part, named=named, flags=flags)

    def of_named_state(self, named_as: tuple[Options, bool]) -> Options:
        return named_as[0]

    def of_record(self, part: Options) -> Draft | None:
        kinds = [
            key for key, so in part.by_kind.items() if isinstance(so, Equals) and so.path == "id"
        ]
        return Draft(frozenset(kinds), kinds[0], where=(part,)) if len(kinds) == 1 else None

    def of_measure(self, part: Options) -> Draft:
        return _measuring(_figures(part))

    @_of_each("number {0.key}")
    def of_number(self, kind: Kind, path: str) -> str:
        return path if kind.is_number(path) and path not in kind.data.get("each", ()) else ""

    def of_amount(self, _: str) -> Draft:
        usual = {key: Figure(kind.usual) for key, kind in self.kinds.items() if kind.usual}
        return _measuring(Options(_USUAL, usual), flags=frozenset(("bare amount",)))

    def of_figures_alone(self, part: Options) -> Draft:
        return _measuring(part)

    def of_verb(self, part: Options) -> Draft:
        verbs = self._each(part, part.key, lambda kind, name: kind.data["verbs"][name]["figure"])
        return _measuring(_figures(verbs), flags=frozenset((f"verb {part.key}",)))

    def of_dated(self, dated: tuple[When, Options]) -> Draft:
        return Draft(frozenset(dated[1].by_kind), dated=(dated,))

    def of_superlative(self, role: str) -> tuple[str, int]:
        return role, 0

    def of_grain(self, word: str) -> Options:
        grain = "month" if word == "trend" else word
        return Options(f"grain:{grain}", dict.fromkeys(self.kinds, Group(grain=grain)))

    def of_number_word(self, role: str) -> Number:
        return _NUMBERS[role]

    def of_ranked(self, ranked: tuple[Options, Rank]) -> Draft | None:
        kinds = frozenset(ranked[0].by_kind)
        if len(kinds) > 6:
            return None
        return Draft(kinds, groups=(ranked[0],), rank=ranked[1])

    # --- restrictions

    def restricted(self, draft: Draft, part: Options, *, left: bool = False) -> Draft | None:
        if "converted" in draft.flags and part.key.startswith("currency:"):
            return None  # the currency is that into which it is converted
        return draft.restricted(part, left=left)

    @_of_each("not {1.key}")
    def not_so(self, kind: Kind, restriction: Restriction, _: str) -> Restriction:
        """What the opposite of a state is, where it is more than its negation."""
        if isinstance(restriction, Is):
            opposite = kind.data.get("opposites", {}).get(restriction.state)
            if opposite:
                return Is(opposite)
        if isinstance(restriction, Dated):
            return self.not_then(kind, restriction)
        return restriction.of if isinstance(restriction, Not) else Not(restriction)

    def either(self, first: Options, role: str, second: Options) -> Options:
        """Not of what is denied: ``not in Germany or Austria`` denies both; ``open and on hold``:
        what is no other value of the same is so as well."""
        by_kind: dict[str, Restriction] = {}
        for kind, meaning in first.by_kind.items():
            other = second.by_kind.get(kind)
            if other is not None and other != meaning and not isinstance(meaning, Not):
                paths = {self._path_of(self.kinds[kind], part) for part in (meaning, other)}
                if role == "and" and len(paths) > 1:
                    by_kind[kind] = All((meaning, other))
                    continue
                states = self.kinds[kind].states
                meaning, other = _member(states, meaning, other), _member(states, other, meaning)
                by_kind[kind] = _either(meaning, other)
        return options(f"{first.key} or {second.key}", by_kind)

    def or_also(self, draft: Draft, part: Options | Draft) -> Draft | None:
        """The last that was said of records, or something else: ``over 5000 or overdue``."""
        *rest, last = draft.where
        any_of = self.either(last, "or", self._having(part))
        return draft._replace(where=tuple(rest)).restricted(any_of, left=False)

    @_of_each("{0.key} {1.key}")
    def property_of_value(self, kind: Kind, name: str, value: Options) -> Restriction | None:
        meaning = value.by_kind.get(kind.key)
        is_its = meaning is not None and self._path_of(kind, meaning) in self._paths(kind, name)
        return meaning if is_its else None

    def property_in_state(self, part: Options, state: Options) -> Draft:
        return _being(self.property_of_value(part, state))

    @_of_each("{0.key} in {1.key}")
    def mentioned_in(self, kind: Kind, meaning: Restriction, part: Options) -> Restriction | None:
        path = part.by_kind.get(kind.key, "")
        is_mentioned = isinstance(meaning, Mentions) and kind.is_text(path)
        return replace(meaning, path=path) if is_mentioned else None

    @_of_each("{0.key} {1}")
    def so_or_more(self, kind: Kind, meaning: Restriction, role: str) -> Restriction | None:
        """The members of an enumeration from one on, in their order."""
        path = self._path_of(kind, meaning) if isinstance(meaning, Is) else ""
        if not isinstance(meaning, Is) or path not in kind.data.get("ordered", ()):
            return None
        names = [name for name in kind.states if name.rpartition(".")[0] == path]
        at = names.index(meaning.state)
        return Either(tuple(map(Is, names[at:] if _SIGNS[role] == "ge" else names[: at + 1])))

    @_of_each("passed {1.key}")
    def passed(self, kind: Kind, path: str, _: str) -> Restriction | None:
        """A date of the records is over: of those that the date alone implies."""
        return _dated_as(kind, path, When("before today")) if kind.is_dated(path) else None

    @_of_each("known {1.key}")
    def known(self, kind: Kind, path: str, _: str) -> Restriction:
        return _known(kind, path)

    @_of_each("unknown {1.key}")
    def unknown(self, kind: Kind, name: str, role: str) -> Restriction | None:
        """No value; ``never read``, ``nobody downloaded``: counted not once."""
        path = self._property_of(kind, name)
        # "Not done" is no part.
        is_counted = path and kind.is_number(path) and not path.endswith("Percent")
        return Not(_known(kind, path)) if path and (role == "without" or is_counted) else None

    def planned(self, dated: tuple[When, Options], _: str) -> tuple[When, Options]:
        """``to be closed this month``: by the day that is planned for it."""
        when, date = dated
        plans = {key: kind.data.get("planned", {}) for key, kind in self.kinds.items()}
        by_kind = {key: plans[key][path] for key, path in date.by_kind.items()
                   if path in plans[key]}  # fmt: skip
        return when, options(f"planned {date.key}", by_kind)

    def to_come(self, _: str, deed: Draft) -> Draft | None:
        """``how much should come in by Friday``: with what it is not done yet, by its due date."""
        if deed.where or any(date for _, date in deed.dated):
            return None
        verbs = (verb for key, figure in deed.figures[0].by_kind.items()
                 for verb in self.kinds[key].data["verbs"].values()
                 if verb["figure"] == figure.measure)  # fmt: skip
        undone = dict(verb["undone"] for verb in verbs if "undone" in verb)
        states = {key: Is(state) for key, state in undone.items()}
        draft = self.amounting(Options(f"to come {undone}", states))
        due = {key: self.kinds[key].data["ahead"][0] for key in draft.kinds}
        dated = deed.dated or ((When(""), None),)
        return draft._replace(dated=tuple((when, Options(f"due {due}", due)) for when, _ in dated))

    # --- related records

    def of_records(self, draft: Draft, owner: Draft) -> Draft:
        return draft.restricted(self.belonging(owner), left=False)

    def having(self, role: str, draft: Draft | Options) -> Options | None:
        if isinstance(draft, Options):
            return draft
        if role == "late_with":
            return self._late_with(draft)
        is_so = draft.named and (draft.is_plain or draft.threshold)
        return self._related(draft) if is_so else None

    def _late_with(self, draft: Draft) -> Options | None:
        """``behind on their invoices``: with some that are overdue."""
        if not draft.is_records:
            return None
        return self._related(draft.restricted(self._overdue(draft.kinds), left=False))

    def _overdue(self, kinds: Iterable[str]) -> Options:
        states = {key: Is("overdue") for key in kinds if "overdue" in self.kinds[key].states}
        return options("overdue", states)

    def in_arrears(self, _: str) -> Options:
        """``late with paying``: with something overdue."""
        return self._related(self.something_so("", self._overdue(self.kinds)))

    def having_none(self, role: str, draft: Draft) -> Options | None:
        if role == "not" and draft.leftward:
            return None  # "have not paid invoices": what is denied is that they are paid
        is_asked = draft.flags & {"asked more", "asked less"}
        if draft.is_figure and not draft.named and not draft.columns and not is_asked:
            measured = frozenset(("Invoices", "Payments", "Opportunities", "Tickets")) & draft.kinds
            figures = {key: self.kinds[key].figures.get(draft.figures[0].by_kind[key].measure)
                       for key in measured}  # fmt: skip
            counted = {key: Is(state) for key, figure in figures.items() if figure is not None
                       if (state := self.kinds[key].state_with(figure.filter))}  # fmt: skip
            more = (Options(f"counted {draft.figures[0].key}", counted),) if counted else ()
            draft = draft._replace(kinds=measured.intersection(counted or measured), figures=(),
                                   where=(*draft.where, *more))  # fmt: skip
            return self._related(draft, negated=True) if measured else None
        return self._related(draft, negated=True) if draft.is_records else None

    def none_so(self, part: Options, none: Options) -> Options | None:
        """``läuft kein Deal``: none that is so, of what the owner cannot be."""

        def so(kind: Kind, of: Has) -> Restriction | None:
            return None if kind.key in part.by_kind else part.by_kind.get(of.kind)

        return self._none(none, part.key, so)

    def none_then(self, when: When, none: Options) -> Options | None:
        """``im letzten Jahr kein Ticket``: none of that time; ``seit 3 Monaten``: since then."""
        if unit_of_age(when) and not is_lasting(when):
            return None

        def then(_: Kind, of: Has) -> Restriction | None:
            is_dated = any(isinstance(so, Dated) for so in of.where)
            return None if is_dated else Dated(since_then(when))

        return self._none(none, when.words, then)

    def _none(
        self, none: Options, key: str, more: Callable[[Kind, Has], Restriction | None]
    ) -> Options | None:
        """None of other records that are more than was said of them."""

        def without(kind: Kind, meaning: Restriction) -> Restriction | None:
            of = meaning.of if isinstance(meaning, Not) else None
            so = more(kind, of) if isinstance(of, Has) else None
            return Not(replace(of, where=(*of.where, so))) if isinstance(of, Has) and so else None

        is_none = none.key.startswith((_NONE, _NEVER))
        return self._each(none, f"{none.key} {key}", without) if is_none else None

    def having_so(self, part: Options, draft: Draft) -> Draft | None:
        """``overdue clients``: who has something that is so, where they cannot be so themselves."""
        is_bare = not (draft.where or draft.dated or draft.kinds & set(part.by_kind))
        # "Open items of the clients": what has a noun of its own is theirs.
        is_plain = draft.is_records and is_bare and not part.key.startswith("named:")
        stated = self._each(part, part.key, lambda kind, so: any(
            state.amount for state in _so_since(kind, so)) and so)  # fmt: skip
        related = self._related(self.something_so("", stated)) if is_plain else None
        return draft.restricted(related, left=False) if related else None

    def having_who(self, part: Options, draft: Draft) -> Draft | None:
        is_someone = draft.named and self.kinds[draft.named].data.get("someone")
        return draft.restricted(part, left=False) if is_someone and not draft.leftward else None

    def whose_are_so(self, draft: Draft, part: Options) -> Draft | None:
        """``clients that pay late``: a state that they bring about in records of theirs."""
        owner, theirs = self.kinds[draft.named].data["one"], dict[str, Restriction]()
        for key in self.kinds[draft.named].related.keys() & part.by_kind.keys():
            meaning, doers = part.by_kind[key], self.kinds[key].data.get("done_by", {})
            so = parts_of(meaning.of if isinstance(meaning, Not) else meaning)
            states = self.kinds[key].stated(so[:1])
            if any(doers.get(state.date) == owner and not state.path for state in states):
                has = Has(key, so)
                theirs[draft.named] = Not(has) if isinstance(meaning, Not) else has
        return draft.restricted(options(f"{_NONE}{part.key}", theirs), left=False)

    def who_has_first(self, whose: Draft | Options, first: Draft) -> Draft | None:
        """Whose the largest or the oldest record is: told as a property of that record."""
        rank = first.rank
        is_one = rank is not None and rank.of == "records" and "singular" in first.flags
        if rank is None or not is_one or rank.limit > 1 or first.figures or first.columns:
            return None
        first = first.limited(1)
        if isinstance(whose, Options):
            return self.what_of(whose, first)
        if not whose.is_records or whose.where or whose.dated or whose.columns:
            return None
        name = self.kinds[whose.named].data["one"]
        owners = options(name, {
            key: name for key, kind in self.kinds.items() if name in kind.dimensions
        })  # fmt: skip
        return self.what_of(owners, first)

    def who_has_many(self, draft: Draft, many: Draft) -> Draft | None:
        is_other = not (draft.leftward or draft.kinds & many.kinds)
        return draft.restricted(self._related(many), left=False) if is_other else None

    def _having(self, part: Options | Draft) -> Options:
        """That there are other records, where these are said and not that."""
        if isinstance(part, Draft) and not (part.is_plain and part.named):
            raise TypeMismatchError("what others have is records")
        return self._related(part) if isinstance(part, Draft) else part

    def who_also_has(self, draft: Draft, part: Options | Draft) -> Draft:
        return draft.restricted(self._having(part), left=False)

    def having_both(self, part: Options, second: Options | Draft) -> Options:
        return self._both(part, self._having(second))

    @_of_each("{0.key} and {1.key}")
    def _both(self, kind: Kind, part: Restriction, second: Options) -> Restriction | None:
        other = second.by_kind.get(kind.key, part)
        return All((part, other)) if other != part else None

    def two_states(self, part: Options, draft: Draft) -> Options | None:
        if part == draft.where[0] or draft.named not in part.by_kind:
            return None
        first = draft._replace(where=(part, *draft.where[1:]))
        return self.having_both(self._having(first), draft)

    def who_is_so(self, _: str, part: Options) -> Draft | None:
        """Clients first: who else has records is said by their name."""
        kind = next((key for key in part.by_kind if self.kinds[key].data.get("someone")), None)
        return None if kind is None else Draft(frozenset((kind,)), kind, where=(part,))

    def who_has_so(self, _: str, part: Options) -> Draft | None:
        return self.having_so(part, self.of_kind(("Clients", False)))

    def compound(self, first: Draft, second: Draft) -> Draft | None:
        if "share" in first.flags and first.is_plain:
            return self._part_of_kind(second, first)
        if first.dated:
            return None
        kinds = first.kinds & second.kinds
        if first.where and first.is_plain and second.rank and kinds and not second.named:
            # "tickets with a broken SLA: who took longest"
            where = (*first.where, *second.where)
            return second._replace(kinds=kinds, where=where, leftward=True)
        if first.where:
            is_open = not second.leftward
            return second.restricted(self.belonging(first), left=True) if is_open else None
        # "Kontakte gesperrter Kunden"
        is_whose = first.is_plain and first.named != second.named and not first.leftward
        if not is_whose or not second.where:
            return None
        return first.restricted(self.belonging(second), left=False)

    def of_done(self, deed: Draft) -> Options | None:
        """Who did something; for the first time in a period: not before it."""
        done = self._done(deed, negated=False)
        if "first time" not in deed.flags:
            return done
        if len(deed.dated) != 1:
            return None
        when, date = deed.dated[0]
        earlier = self._done(deed._replace(dated=((all_before(when), date),)), negated=True)
        return self._both(done, earlier)

    def undone_then(self, deed: Draft, when: When) -> Options:
        """``billed in 2025 but not in 2026``; ``bought nothing in the last 6 months``."""
        then = deed._replace(dated=()).within(since_then(when), None, left=False)
        undone = self._done(then, negated=True)
        return self._both(self._done(deed, negated=False), undone) if deed.dated else undone

    def something_so(self, _: str, part: Options) -> Draft:
        """``something overdue``: what has an amount that is due then, or one at all."""
        states = {kind: state for kind, meaning in part.by_kind.items()
                  for state in _so_since(self.kinds[kind], meaning)}  # fmt: skip
        measured = {kind: {figure.filter for figure in self.kinds[kind].figures.values()}
                    for kind in states}  # fmt: skip
        due = [kind for kind, state in states.items() if state.amount]
        due = due or [kind for kind, state in states.items()
                      if not state.date and state.filter in measured[kind]]  # fmt: skip
        owing = {kind: part.by_kind[kind] for kind in due}
        if not due:
            raise TypeMismatchError("what has no amount")
        return Draft(frozenset(owing), due[0], where=(part,))

    def nothing_so(self, _: str, part: Options) -> Options:
        return self._related(self.something_so(_, part), negated=True)

    def has_done(self, _: str, deed: Draft) -> Draft | None:
        owners = [part.key.partition(":")[0] for part in deed.where]
        is_of_one = len(owners) == 1 and owners[0] in (*self.kinds, "place")
        return deed.flagged("done", "whether") if is_of_one and not deed.dated else None

    def undone(self, _: str, deed: Draft) -> Options:
        return self._done(deed, negated=True)

    # --- periods

    def in_period(self, draft: Draft, when: When, *, left: bool) -> Draft | None:
        """``deals with no tasks since May`` says the time of the tasks."""
        if not left and draft.where and draft.where[-1].key.startswith(_NONE):
            return None
        months, parts = self._lexicon.reader.months.keys(), when.words.split("|")
        are_listed = len(parts) > 2 and all(months & {*map(stem, part.split())} for part in parts)
        draft = draft.flagged("months listed") if are_listed else draft
        return draft.within(when, None, left=left)

    def of_date(self, draft: Draft, part: tuple[When, Options], *, left: bool) -> Draft:
        return draft.within(*part, left=left)

    def two_periods(self, first: When, second: When) -> When | None:
        return None if first == second else both(first, second)

    @_of_each("not {1.key} {0.words}")
    def not_done_then(self, kind: Kind, path: str, when: When) -> Restriction:
        return self.not_then(kind, Dated(when, path))

    def not_then(self, kind: Kind, dated: Dated) -> Restriction:
        """``not updated for over a year``: the last time was before; ``not moved since May``: of
        those that still can be."""
        not_then = dated if is_long_ago(dated.when) else Not(dated)
        is_since = dated.date in kind.data.get("since", {}).values()
        state = kind.data.get("staying", "") if is_since else ""
        return All((Is(state), not_then)) if state else not_then

    def not_dated(self, _: str, part: tuple[When, Options]) -> Options:
        return self.not_done_then(*part)

    def happened(self, draft: Draft, part: Options, *, left: bool) -> Draft | None:
        kinds = draft.kinds.intersection(part.by_kind) - self._so_then(part)
        if not kinds or any(flag.startswith("event") for flag in draft.flags):
            return None
        events = Options(part.key, {kind: part.by_kind[kind] for kind in kinds})
        return draft._replace(kinds=kinds, flags=draft.flags | {f"event {part.key}"},
                              dated=(*draft.dated, (When(""), events)),
                              leftward=draft.leftward or left)  # fmt: skip

    @_of_each("{0.key} {1.words}")
    def so_in(self, kind: Kind, meaning: Restriction, when: When) -> Restriction | None:
        date = kind.states[meaning.state].date if isinstance(meaning, Is) else ""
        return All((meaning, Dated(when, date))) if date else None

    def aged(self, role: str, number: Number) -> When | None:
        if number.unit not in roles("time") or number.unit == "hour" or "." in number.text:
            return None
        return ago(number.text, number.unit, role)

    def so_old(self, draft: Draft, when: When) -> Draft | None:
        by_kind: dict[str, Restriction] = {}
        *rest, last = draft.where or (Options("", {}),)
        if last.key.startswith((_NONE, _NEVER)):  # "no tickets for 3 months": none since then
            none = self.none_then(when, last)
            return draft._replace(where=(*rest, none)) if none else None
        for kind in draft.kinds:
            since = map(self.kinds[kind].since, draft.said_of(kind))
            by_kind[kind] = Dated(when, next(filter(None, since), self.kinds[kind].date))
        aged = draft.restricted(Options(f"age:{when.words}", by_kind), left=False)
        return aged._replace(leftward=aged.leftward or is_lasting(when))  # "seit Mai | ohne Ticket"

    @_of_each("{0.key} {1.words}")
    def so_long(self, kind: Kind, meaning: Any, when: When) -> Restriction | None:
        """A state that lasts so long, an event that lies so long back, a place where records stay
        so long: what is closed stays nowhere."""
        if isinstance(meaning, Is):
            return All((meaning, Dated(when, kind.since(meaning) or kind.date)))
        if not isinstance(meaning, str):
            return None
        if date := kind.data.get("since", {}).get(meaning, ""):
            state, dated = kind.data.get("staying", ""), Dated(when, date)
            return All((Is(state), dated)) if state else dated
        is_ahead = meaning in kind.data.get("ahead", ()) and unit_of_age(when)
        is_implied = is_ahead and kind.state_with(kind.dates.get(meaning))
        if is_implied:
            return _dated_as(kind, meaning, coming(when))
        return Dated(when, meaning) if kind.is_dated(meaning) else None

    def of_long_bound(self, bound: Bound) -> When | None:
        """``45 days or more``."""
        role = "older" if bound.sign in ("gt", "ge") else "younger"
        return None if bound.upper else self.aged(role, bound.number)

    def newest_so_old(self, draft: Draft, when: When) -> Options | None:
        """Others whose newest record is so old: they have some, and none since."""
        rank = draft.rank
        if rank is None or rank.word != "newest" or rank.limit > 1 or not draft.named:
            return None
        since = draft._replace(rank=None, flags=frozenset()).within(
            since_then(when), None, left=False
        )
        if not is_long_ago(when):
            return self._related(since)
        some = self._related(draft._replace(rank=None))
        return self._both(some, self._related(since, negated=True))

    @_of_each("{0.key} {1}")
    def within_span(self, kind: Kind, meaning: Any, span: tuple[Sign, Number]) -> Any:
        end = meaning if isinstance(meaning, str) else ""
        if end in kind.data.get("planned", {}).values():
            return None  # "due in 3 weeks" says how long from today on, not how long it took
        if isinstance(meaning, Is):
            end = kind.states[meaning.state].date
        name, hours = self._duration(kind.key, end), _in_hours(span[1])
        measure = kind.figures.get(name)
        if measure is None or hours is None:
            return None
        amount = hours if measure.unit == "hours" else hours / 24
        compared = Compares(name, span[0], f"{amount.normalize():f}")
        return compared if isinstance(meaning, str) else All((meaning, compared))

    def so_fast(self, draft: Draft, span: tuple[Sign, Number]) -> Draft | None:
        """``which agent solved the most tickets within 4 hours``: what was done is said before."""
        part = next(iter(draft.events), None)
        if part is None and draft.where:
            *rest, part = draft.where
            draft = draft._replace(where=tuple(rest))
        if part is None:
            return None
        whole = draft.restricted(self.within_span(part, span), left=False)
        return whole._replace(leftward=False)

    @_of_each("{0.key} late {1}")
    def so_late(self, kind: Kind, meaning: Restriction, span: tuple[Sign, Number], _: str) -> Any:
        """``paid more than 14 days late``: from the day that it was due."""
        path = kind.states[meaning.state].date if isinstance(meaning, Is) else ""
        name, hours = kind.data.get("late", ""), _in_hours(span[1])
        if hours is None or not name or path != end_of(kind.figures[name].value):
            return None
        return All((meaning, Compares(name, span[0], f"{(hours / 24).normalize():f}")))

    def late_on_average(self, part: Options, _: str) -> Draft:
        some = self.so_late(part, ("gt", Number("0", "day")), "late")
        late = self._each(
            some, "late on average", lambda kind, _: Figure(kind.data["late"], "average")
        )
        return _measuring(late, threshold=Threshold("gt", "0"))

    def lasting_until(self, _: str, part: Options) -> Options:
        names = {kind: self._duration(kind, path) for kind, path in part.by_kind.items()}
        figures = {kind: Figure(name) for kind, name in names.items() if name}
        return options(f"lasting {sorted(figures)}", figures)

    def takes(self, draft: Draft, part: Options) -> Draft | None:
        """How long records take, or those that belong to them: clients pay their invoices."""
        if draft.leftward and not draft.where:
            return None
        if draft.named in part.by_kind:
            return draft.figured(part)
        theirs = (key for key in part.by_kind if draft.named in self.kinds[key].to_one)
        lasting = Draft(frozenset(theirs), figures=(part,))
        if not draft.where and not draft.dated:
            return lasting if lasting.kinds else None
        return lasting.restricted(self.belonging(draft), left=False)

    def taker(self, draft: Draft, date: Options) -> Draft | None:
        return self.takes(draft, self.lasting_until("", date))

    def taking_longest(self, *_: str) -> tuple[str, int]:
        return "slowest", 0

    def longest_until(self, rank: tuple[str, int], part: Options) -> Draft | None:
        role, limit = rank
        lasting = self.lasting_until(role, part)
        ranking = Rank("figure", goes_down(role), limit or 1, role)
        return _measuring(lasting, rank=ranking) if role in ("fastest", "slowest") else None

    def span(self, role: str, number: Number) -> tuple[Sign, Number] | None:
        if _in_hours(number) is None:
            return None
        return "gt" if role in ("older", "lasting", "more") else "le", number

    def against(self, role: str, part: Any) -> Against | None:
        if role in ("more", "less") and not (
            isinstance(part, When) and part.words[:1].isalpha()
        ):  # "more than 10 days ago"
            return None
        if part in ("newest", "previous"):  # "this month vs last"
            return Against()
        if isinstance(part, Against):
            return part
        return Against(part[0] if isinstance(part, tuple) else part)

    def of_shift(self, role: str) -> Against:
        shift, _, of = role.removeprefix("shift_").partition("_")
        return Against(shift=shift, unit=of)

    def set_against(self, draft: Draft, against: Against) -> Draft | None:
        if draft.against not in (None, Against()) or draft.leftward or draft.rank:
            return None
        return draft._replace(against=against)

    def in_pair(self, draft: Draft, *pair: Any, left: bool) -> Draft | None:
        *_, when, against = pair
        if draft.against not in (None, Against()) or against.when in (None, when):
            return None
        return draft.within(when, None, left=left)._replace(against=against)

    def in_each(self, draft: Draft, when: When) -> Draft | None:
        words = when.words.split()
        unit = next((unit for word in reversed(words) for unit in roles("time")
                     if word.removesuffix("s") == unit), "hour")  # fmt: skip
        if unit == "hour":
            return None
        return draft.grouped(self.of_grain(unit), left=False).within(when, None, left=False)

    def compared(self, _: str, draft: Draft) -> Draft | None:
        return draft.flagged("compared") if draft.against or draft.groups else None

    def changed(self, _: str, draft: Draft) -> Draft | None:
        if draft.against is None and draft.dated:
            draft = draft._replace(against=Against())
        return draft.flagged("compared") if draft.against is not None else None

    def whose_changed(self, subject: Draft, role: str, draft: Draft) -> Draft | None:
        is_change = role == "whose" and draft.against is not None and not draft.groups
        return self._per_subject(subject, draft) if is_change else None

    def has_changed(self, draft: Draft, role: str) -> Draft | None:
        if "compared" in draft.flags and role != "previous":
            return None
        against = draft.against or Against()
        return draft._replace(against=against).flagged("compared")

    @_of_each("{0.key} vs {1.key}")
    def two_values(
        self, kind: Kind, first: Restriction, second: Options
    ) -> tuple[Restriction, str] | None:
        other, name = second.by_kind.get(kind.key, first), self._dimension_of(kind, first)
        is_pair = name and other != first and self._dimension_of(kind, other) == name
        is_pair = is_pair and not isinstance(first, Not)  # "without inactive and blocked ones"
        return (_either(first, other), name) if is_pair else None

    def of_two(self, draft: Draft, pair: Options, *, left: bool) -> Draft:
        where = self._each(pair, pair.key, lambda _, values: values[0])
        group = self._each(pair, f"by {pair.key}", lambda _, values: Group(values[1]))
        return draft.restricted(where, left=left).grouped(group, left=left).flagged("compared")

    @_of_each("split {1.key}")
    def split_values(self, kind: Kind, meaning: Any, _: str) -> tuple[Restriction, str] | None:
        is_several = isinstance(meaning, Either) or len(getattr(meaning, "values", ())) > 1
        name = self._dimension_of(kind, meaning) if is_several else ""
        return (meaning, name) if name else None

    def so_versus_so(self, draft: Draft, other: Options) -> Draft | None:
        if (draft.leftward and len(draft.where) != 1) or not draft.where:
            return None
        *rest, last = draft.where
        pair = self.two_values(last, other)
        return self.of_two(draft._replace(where=tuple(rest), leftward=False), pair, left=False)

    # --- figures

    def how_many(self, draft: Draft, _: str) -> Draft | None:
        if draft.figures and not draft.named:
            bare = {kind: Figure(self.kinds[kind].data.get("bare", "")) for kind in draft.kinds}
            if draft.figures[0].by_kind == bare:  # "how many receipts": not how much
                draft = draft._replace(figures=(self._count(),))
            return draft.flagged("counted")  # "how many hours"
        if draft.figures or draft.rank or draft.columns:
            return None
        return draft._replace(figures=(self._count(),)).flagged("counted")

    def how_much(self, draft: Draft, role: str) -> Draft | None:
        flags = ("summed", "how much") if role == "much" else ("summed",)
        if draft.figures:
            if draft.figures[0].key == "count" and role != "total":
                return None
            return self._by_method(draft, "sum" if role == "total" else "").flagged(*flags)
        if not any(self.kinds[key].usual for key in draft.kinds):
            if role == "amount" or not draft.named:
                return None
            return draft._replace(figures=(self._count(),)).flagged(*flags)
        amounts = self._amounts(draft)
        return draft.only(amounts.by_kind)._replace(figures=(amounts,)).flagged(*flags)

    def averaged(self, draft: Draft, role: str) -> Draft | None:
        if not draft.figures:
            has_amounts = any(self.kinds[key].usual for key in draft.kinds)
            if role == "average" and draft.groups and not has_amounts:  # "contacts per client"
                return draft._replace(figures=(self._count(),)).flagged("mean", "counted")
            amounts = self._amounts(draft)
            draft = draft.only(amounts.by_kind)._replace(figures=(amounts,))
        if draft.figures[0].key.startswith("count"):
            return draft.flagged("mean") if role == "average" else None
        return self._by_method(draft, _METHODS[role])

    def figure_of(self, figure: Draft, draft: Draft) -> Draft | None:
        is_figure = figure.is_figure or "distinct" in figure.flags
        if not is_figure or figure.named or not draft.is_records:
            return None
        kinds = figure.kinds & draft.kinds
        is_people = self.kinds[draft.named].data.get("someone")
        if is_people and not kinds and not (draft.where or draft.dated or draft.columns):
            # "how satisfied are customers": by what is theirs, all of which belongs to some
            theirs = {key for key in figure.kinds if draft.named in self.kinds[key].to_one}
            return figure._replace(kinds=frozenset(theirs)) if theirs else None
        if not kinds or figure.leftward or draft.columns or "distinct" in draft.flags:
            return None
        where, dated = (*figure.where, *draft.where), (*figure.dated, *draft.dated)
        flags = figure.flags | draft.flags
        return draft._replace(kinds=kinds, figures=figure.figures, columns=figure.columns,
                              flags=flags, where=where, dated=dated)  # fmt: skip

    def records_figure(self, draft: Draft, part: Options) -> Draft | None:
        return draft.figured(_figures(part))

    def of_figure(self, part: Options | str) -> tuple[Options, ...]:
        """A figure to be told beside others: a measure, the number, the amount, its average."""
        if isinstance(part, Options):
            return (_figures(part),)
        if part == "count":
            return (self._count(),)
        method = _METHODS.get(part, "")
        usual = {key: Figure(kind.usual, method) for key, kind in self.kinds.items() if kind.usual}
        return (Options(f"{_USUAL}{method}", usual),)

    def one_more(self, _: str, more: tuple[Options, ...]) -> tuple[Options, ...] | None:
        return more if len(more) == 1 else None

    def also_figures(
        self, first: tuple[Options, ...], more: tuple[Options, ...]
    ) -> tuple[Options, ...] | None:
        return None if more[0] in first else (*first, *more)

    def and_figure(self, draft: Draft, more: tuple[Options, ...]) -> Draft | None:
        if draft.groups and not draft.figures and not draft.rank:
            draft = draft._replace(figures=(self._count(),))
        if not draft.figures or draft.rank:
            return None
        is_usual = any(figure.key == _USUAL for figure in more)
        if is_usual and any(figure.key != "count" for figure in draft.figures):
            return None  # "how much tax last month, and how much before"
        for figure in more:
            draft = draft.figured(figure)
        return draft

    def figures_of(self, part: tuple[Options, ...], draft: Draft) -> Draft | None:
        """Several figures; of ``lowest and highest rating`` one figure in several ways."""
        if len(part) < 2 or len(draft.figures) > 1:
            return None
        result = draft._replace(figures=())
        if draft.is_deed:
            draft = result  # "net and tax of what we billed"
        for figure in part:
            if draft.figures and figure.key != "count":
                if not figure.key.startswith(_USUAL):
                    return None
                figure = self._by_method(draft, figure.key.removeprefix(_USUAL)).figures[0]
            result = result.figured(figure)
        return result.flagged("counted")

    def figures_listed(self, first: Draft, second: Draft) -> Draft | None:
        plain = second.is_figure and not (
            second.where or second.dated or second.named or second.columns
        )
        if not plain or not first.is_figure or first.leftward or "compared" in first.flags:
            return None
        if second.flags & {"share", "converted"}:  # of one figure, or of all of them
            return None
        if len(first.figures) == len(second.figures) == 1 and (
            same := self.figure_as_said(first, second)
        ):  # "sales, net and gross" is told both ways
            is_told = _TOLD in first.figures[0].key
            return first.figured(same.figures[0]) if is_told else same
        for figure in second.figures:
            first = first.figured(figure)
        return first

    def figure_as_said(self, first: Draft, second: Draft) -> Draft | None:
        """``average invoice value, net``: the same figure as the second says that it is told."""
        by_kind = {}
        for key, figure in first.figures[0].by_kind.items():
            second_figure = second.figures[0].by_kind.get(key)
            ways = self.kinds[key].ways_told(figure.measure)
            if second_figure is not None and second_figure.measure in ways:
                by_kind[key] = replace(figure, measure=ways[second_figure.measure])
        if not by_kind:
            return None
        choices = Options(f"{first.figures[0].key}{_TOLD}{second.figures[0].key}", by_kind)
        return first.only(by_kind)._replace(figures=(choices,))

    def often_so(self, part: Options, rank: tuple[str, int]) -> Draft | None:
        """By the rate of what is so then: leads that have a date of conversion are converted."""
        role, limit = rank

        def rate_of(kind: Kind, meaning: Any) -> Figure | None:
            hits = kind.dates.get(meaning, "") if isinstance(meaning, str) else ""
            hits = kind.states[meaning.state].filter if isinstance(meaning, Is) else hits
            names = (name for name, rate in kind.rates.items() if hits and rate.hits == hits)
            return next((Figure(name, is_rate=True) for name in names), None)

        rates = self._each(part, f"rate {part.key}", rate_of)
        ranking = Rank("figure", goes_down(role), limit, role)
        return _measuring(rates, rank=ranking) if role in ("top", "bottom") else None

    def part_of(self, draft: Draft, whole: Draft) -> Draft | None:
        """The last that is said of the records is the part, what is said of all is the whole."""
        is_said = whole.named or "state alone" in whole.flags
        if not whole.is_plain or not is_said or whole.columns:
            return None
        if draft.named and whole.named not in ("", draft.named):
            return self._part_of_kind(draft, whole)
        is_named = draft.named == whole.named or "share" in draft.flags
        if not is_named or not draft.where or not draft.is_plain:
            return None
        dated = (*whole.dated, *draft.dated)
        where = tuple(dict.fromkeys((*whole.where, *draft.where)))
        kinds = draft.kinds & whole.kinds
        return draft._replace(kinds=kinds, where=where, dated=dated, leftward=False,
                              named=whole.named).flagged("share")  # fmt: skip

    def _part_of_kind(self, draft: Draft, whole: Draft) -> Draft | None:
        """Of records of one kind those of another: credit notes of all that was billed."""
        if not (whole.named and draft.is_records) or draft.where or draft.columns:
            return None
        rate = self.kinds[whole.named].data.get("parts", {}).get(draft.named)
        if rate is None:
            return None
        figure = Options(f"rate:{rate}", {whole.named: Figure(rate, is_rate=True)})
        return whole._replace(kinds=frozenset((whole.named,)), figures=(figure,),
                              dated=(*whole.dated, *draft.dated), leftward=False)  # fmt: skip

    def how_long(self, role: str, draft: Draft | Options) -> Draft:
        if isinstance(draft, Options):  # "how quick was our first reply"
            return self.of_figures_alone(self.lasting_until("", draft))
        method = "" if role == "average" else _METHODS.get(role, "")
        return self._by_method(self._lasting(draft)._replace(leftward=False), method)

    def how_old(self, _: str, draft: Draft) -> Draft | None:
        ages = {kind: Figure("age") for kind in draft.kinds if "age" in self.kinds[kind].figures}
        return draft._replace(leftward=False).figured(options(f"ages {sorted(ages)}", ages))

    @_of_each("{0.key} to {1.key}")
    def duration(self, kind: Kind, start: str, ends: Options) -> Figure | None:
        end = ends.by_kind.get(kind.key, start)
        return Figure(f"{start}..{end}") if end != start else None

    def time_taken(self, _: str, draft: Draft) -> Draft | None:
        is_duration = draft.is_figure and " to moment" in draft.figures[0].key
        return draft.flagged("counted") if is_duration else None

    def different(self, _: str, part: Options) -> Draft:
        names = Options(f"distinct {part.key}", part.by_kind)
        return Draft(frozenset(part.by_kind), columns=(names,), flags=frozenset(("distinct",)))

    def in_unit(self, draft: Draft, role: str) -> Draft | None:
        """``average resolution time in hours``: the unit that it is told in anyway."""
        if len(draft.figures) != 1:
            return None
        figures = draft.figures[0].by_kind
        measured = {key: self.kinds[key].figures.get(figures[key].measure) for key in draft.kinds}
        kinds = (key for key, measure in measured.items() if measure and measure.unit == f"{role}s")
        return draft.only(kinds).flagged("unit told")

    # --- groups

    def grouped_so(self, draft: Draft, subject: Draft) -> Draft | None:
        is_some = subject.is_records and (subject.where or subject.dated) and not subject.columns
        return self._per_subject(subject, draft, left=False) if is_some else None

    def and_by(self, first: Options, second: Options) -> tuple[Options, Options] | None:
        return None if first == self.group(second) else (first, self.group(second))

    @_of_each("{0.key} {1.key}")
    def unit_of_date(self, kind: Kind, group: Group, date: Options) -> Group | None:
        """By month of closing: the unit of another date than the usual one."""
        path = date.by_kind.get(kind.key)
        return replace(group, date=path) if path and group.grain and not group.date else None

    def by_unit_of_date(self, date: Options, unit: str) -> Options | None:
        return self.unit_of_date(self.of_grain(unit), date)

    def grouped(
        self, draft: Draft, part: Options | tuple[Options, Options], *, left: bool = False
    ) -> Draft:
        for group in part if isinstance(part, tuple) else (part,):
            draft = draft.grouped(group, left=left)
        return draft

    @_of_each("{0.key} of {1[0]}")
    def dimension_of_kind(self, kind: Kind, name: str, of: tuple[str, bool]) -> str | None:
        path = kind.to_one.get(of[0])
        is_their = kind.key == of[0] or (path and kind.dimensions[name].path.startswith(path))
        return name if is_their else None

    # --- rankings

    def rank_many(self, rank: tuple[str, int], number: Number) -> tuple[str, int] | None:
        plain = number.text.isdecimal() and not number.unit and not number.currency
        if not plain or rank[1] or not 0 < int(number.text) <= 1000:
            return None
        return rank[0], int(number.text)

    def ranked(self, rank: tuple[str, int], draft: Draft) -> Draft | None:
        role, limit = rank
        if role in ("highest", "lowest") and not draft.named and "state alone" in draft.flags:
            draft = self.amounting(draft.where[-1])  # "the highest overdue"
        if draft.rank is not None:  # "biggest open deals, top 3"
            several = draft.rank.word in ("top", "bottom") and draft.rank.limit > 0
            if limit or not several:
                return None
            limit = draft.rank.limit
        if role in ("most", "least", "often"):
            of = "figure" if draft.figures else "count"
            is_told = draft.named or (role == "often" and draft.groups)
            if (of == "count" and not is_told) or (of == "figure" and role == "often"):
                return None
        elif role in ("top", "bottom", "highest", "lowest"):
            of = "figure" if draft.figures else "records"
        elif role in ("fastest", "slowest"):
            of = "figure"
            draft = self._soon(draft)
        elif role == "common":
            return None
        else:
            of = "records"
        is_one = "singular" in draft.flags
        is_closed = draft.groups and (not draft.named or (draft.leftward and not is_one))
        if of == "records" and (draft.figures or is_closed):
            return None
        rank_made = Rank(of, goes_down(role), limit, role)
        return draft._replace(rank=rank_made, leftward=True)

    def ranked_behind(self, draft: Draft, rank: tuple[str, int]) -> Draft | None:
        role, limit = rank
        if draft.rank is not None:  # "the most tickets, top 5"
            is_top = role in ("top", "most", "bottom", "oldest")  # "descending, the first ten"
            is_ranked = is_top and limit and draft.rank.limit <= 0
            return draft.limited(limit) if is_ranked else None
        is_single = draft.is_records and "singular" in draft.flags and not draft.columns
        is_dated = role in roles("dated") and draft.is_records and not draft.columns
        if is_dated and (limit or (is_single and role != "newest")):  # "which ticket is the oldest"
            return draft._replace(
                rank=Rank("records", goes_down(role), limit or 1, role), leftward=True
            )
        if role in ("fastest", "slowest"):  # "answers tickets the fastest"
            return self._soon(draft)._replace(rank=Rank("figure", goes_down(role), limit, role))
        if draft.leftward:
            return None
        is_done = draft.is_deed  # "sold best"
        by_time = any(group.key.startswith("grain") for group in draft.groups)
        is_first = role in ("newest", "oldest") and draft.groups and not by_time
        if is_first:  # "tickets by agent, only the first"
            of = "figure" if draft.figures else "count"
            return draft._replace(rank=Rank(of, role == "oldest", limit or 1, role))
        is_often = role == "often" and (is_done or not draft.figures)
        draft = draft._replace(figures=()) if is_often and is_done else draft
        if role not in ("most", "least", "highest", "lowest") and not (
            is_often or (role in ("top", "bottom") and (limit or is_done))
        ):
            return None
        is_about = draft.figures or draft.named or "state alone" in draft.flags or is_often
        if not is_about:
            return None
        of = "figure" if draft.figures or "share" in draft.flags else "count"
        if role in roles("by_amount") - {"most", "least"} and of == "count" and not draft.groups:
            of = "records"
        return draft._replace(rank=Rank(of, goes_down(role), limit, role))

    def longest_in(self, part: Options, _: str) -> Rank:
        """By the date since when they are there, the earliest first; what is closed is nowhere."""
        since = self._each(part, "", lambda kind, name: kind.data.get("since", {}).get(name))
        order = Options(f"since {sorted(since.by_kind.items())}", since.by_kind)
        return Rank("records", False, 0, "by", order)

    def longest_so(self, draft: Draft, _: str) -> Draft | None:
        paths = {}
        for kind in draft.kinds:
            states = draft.said_of(kind)
            if any(isinstance(restriction, Is) for restriction in states):
                since = map(self.kinds[kind].since, states)
                paths[kind] = next(filter(None, since), self.kinds[kind].date)
        choices = options(f"since {sorted(paths.items())}", paths)
        rank = Rank("records", False, 0 if "singular" not in draft.flags else 1, "by", choices)
        return draft.only(paths)._replace(rank=rank)

    def dimension_by_figure(self, part: Options, draft: Draft) -> Draft | None:
        is_told = draft.flags & {"told by", "counted", "how much"}  # "who wrote how many articles"
        if draft.rank or draft.groups or draft.columns or not (is_told or draft.is_deed):
            return None
        grouped = draft.grouped(_groups(part), left=True)
        return grouped._replace(rank=Rank("figure", True, 0, ""))

    def what_is_done(self, _: str, deed: Draft) -> Draft | None:
        """``what did Granit buy``: by what it is done to."""
        objects = {key: kind.data["object"] for key, kind in self.kinds.items()
                   if "object" in kind.data}  # fmt: skip
        return self.dimension_by_figure(Options(f"object {objects}", objects), deed)

    def first_of_group(self, draft: Draft, part: Options) -> Draft | None:
        rank = draft.rank
        if rank is None or rank.of != "records" or draft.figures or draft.groups:
            return None
        return draft.limited(rank.limit or 1).grouped(part, left=False)

    def last_done(self, rank: tuple[str, int], deed: Draft) -> Draft | None:
        role, limit = rank
        if role not in roles("dated") or deed.dated:
            return None
        rank_made = Rank("records", goes_down(role), limit or 1, role)
        return Draft(deed.kinds, where=deed.where, rank=rank_made, flags=frozenset(("list",)))

    def ranked_group(
        self, rank: tuple[str, int], part: Options | str
    ) -> tuple[Options, Rank] | None:
        role, limit = rank
        if role in roles("dated"):
            return None
        return self.group(part), Rank("figure", goes_down(role), limit or _only(part), role)

    def group_is_ranked(self, part: Options, rank: tuple[str, int]) -> tuple[Options, Rank] | None:
        of_groups = ("common", "often", "most", "least", "fastest", "slowest")
        return self.ranked_group(rank, part) if rank[0] in of_groups else None

    def first_of_each(self, ranked: tuple[Options, Rank], group: Options, draft: Draft) -> Draft:
        return self.ranked_group_of(draft, ranked).grouped(group, left=False)

    def ranked_group_of(self, draft: Draft, ranked: tuple[Options, Rank]) -> Draft:
        return draft.grouped(ranked[0], left=True)._replace(rank=ranked[1])

    def best_of(self, part: Options, group: Options) -> Draft:
        names = self._each(part, part.key, lambda _, name: name.removesuffix(" desc"))
        down = all(name.endswith(" desc") for name in part.by_kind.values())
        draft = _measuring(_figures(names), rank=Rank("figure", down, 0, "best"))
        return draft.grouped(_groups(group), left=False)

    def best_alone(self, part: Options) -> Draft:
        named = self._each(part, "best", lambda kind, _: kind.data.get("bestseller"))
        return self.best_of(part, named)

    def group_ranked(self, part: Options | str, draft: Draft) -> Draft | None:
        rank = draft.rank
        if rank is None or rank.of not in ("count", "figure") or draft.columns:
            return None
        first = _only(part) if rank.word in ("top", "bottom") else 0
        group = self.group(part)
        # "Which products sell best": what sells is said, and how many.
        others = (
            each for each in draft.groups if not each.by_kind.items() <= group.by_kind.items()
        )
        draft = draft._replace(groups=tuple(others))
        return draft.grouped(group, left=True).limited(rank.limit or first)

    def records_ranked(self, subject: Draft, draft: Draft) -> Draft | None:
        rank = draft.rank
        is_ranked = rank is not None and rank.of in ("count", "figure") and not draft.groups
        return self._per_subject(subject, draft) if is_ranked and subject.is_records else None

    def best_of_kind(self, rank: tuple[str, int], named_kind: tuple[str, bool]) -> Draft | None:
        valued = self.kinds[named_kind[0]].data.get("valued")
        role, limit = rank
        if valued is None or role not in ("top", "bottom", "highest", "lowest"):
            return None
        kind, figure = valued["kind"], valued["figure"]
        group = Group(self.kinds[named_kind[0]].data["one"])
        return _measuring(
            Options(f"measure:{figure}", {kind: Figure(figure)}), named=named_kind[0],
            groups=(Options(f"by {named_kind[0]}", {kind: group}),),
            rank=Rank("figure", goes_down(role), limit or int(named_kind[1]), "top"),
        )  # fmt: skip

    def so_many(self, number: Number, draft: Draft) -> Draft | None:
        if draft.rank is None or draft.rank.limit > 1:
            return None
        limited = self.rank_many(("", 0), number)
        return None if limited is None else draft.limited(limited[1])

    def extreme(self, rank: tuple[str, int], part: Options | str, *, left: bool) -> Rank | None:
        """Of numbers the highest, of dates the latest: ``due last``, but not ``sent last``."""
        role, limit = rank
        if isinstance(part, str):
            return (
                Rank("records", goes_down(role), limit, role)
                if role in roles("by_amount")
                else None
            )
        is_last = role in ("newest", "oldest")

        def path_of(kind: Kind, name: str) -> str:
            path = (name if kind.is_dated(name) else "") if is_last else _number_path(kind, name)
            return "" if left and is_last and path not in kind.data.get("ahead", ()) else path

        paths = self._each(part, part.key, path_of).by_kind
        key = f"order {sorted(paths.items())}"
        path = Options(key, paths)
        if role in ("common", "next"):
            return None
        return Rank("records", goes_down(role), limit, "by", path)

    def of_extreme_alone(self, rank: Rank) -> Draft | None:
        """``the 5 highest deal values``: of the records that have them."""
        is_of_some = rank.path is not None and rank.limit > 1 and len(rank.path.by_kind) < 3
        return Draft(frozenset(rank.path.by_kind), rank=rank) if rank.path and is_of_some else None

    def of_extreme(self, draft: Draft, rank: Rank) -> Draft:
        return draft.only(draft.kinds if rank.path is None else rank.path.by_kind)._replace(
            rank=rank
        )

    def records_by(self, subject: Draft, draft: Draft) -> Draft | None:
        rank = subject.rank
        if rank is not None and rank.word == "best" and len(draft.figures) == 1:
            # The bestselling, "measured in units".
            return subject.only(draft.kinds)._replace(figures=draft.figures)
        if not subject.named or subject.figures or subject.threshold:
            return None
        if rank is not None and rank.of != "records":
            return None
        if subject.groups and (rank is None or not subject.kinds & draft.kinds):
            return None
        # "The first 3 by revenue" are those with the most of it.
        down = rank is None or rank.descending or rank.word == "oldest"
        limit = rank.limit if rank is not None else -1
        own = subject.kinds & draft.kinds
        if own and not draft.where:  # "open deals by amount": the records themselves
            if len(draft.figures) > 1:
                return None
            return self._in_figure_order(subject, draft, down=down, limit=limit)
        first = 1 if "singular" in subject.flags else FIRST
        limit = (rank.limit or first) if rank is not None else 0
        by_figure = Rank("figure", down, limit, rank.word if rank is not None else "")
        plain = subject._replace(rank=None)
        return self._per_subject(plain, draft._replace(rank=by_figure))

    def put_in_order(self, draft: Draft, role: str) -> Draft | None:
        rank = draft.rank
        if role in ("newestfirst", "oldestfirst"):
            if rank is not None or draft.leftward or draft.figures:
                return None
            return draft._replace(rank=Rank("records", role == "newestfirst", -1, role))
        is_sorted = rank is not None and rank.limit < 0 and rank.word in ("sort", "by")
        if rank is not None and is_sorted and role in roles("order"):
            return draft._replace(rank=replace(rank, descending=goes_down(role), word="put"))
        is_told = rank is not None and (rank.of, rank.limit, rank.word) != ("figure", 0, "")
        if is_told or (draft.leftward and not draft.groups):
            return None
        return draft._replace(rank=Rank("sort", role in ("descending", "bestfirst"), -1, role))

    def sorting_amount(self, _: str, role: str) -> Options:
        return options("amount desc", {
            key: kind.amount for key, kind in self.kinds.items() if kind.amount
        })  # fmt: skip

    def sorting_group(self, _: str, part: Options) -> Options:
        return self._each(part, part.key, lambda kind, name: kind.dimensions[name].path)

    def sorted_by(self, draft: Draft, part: Options) -> Draft | None:
        put, draft = draft.rank, draft.only(part.by_kind)
        if put is not None and put.of == "sort":  # "descending by total"
            return draft._replace(rank=Rank("records", put.descending, -1, "put", part))
        if put or draft.leftward:
            return None
        return draft._replace(rank=Rank("records", False, -1, "sort", part))

    # --- numbers

    def bound(self, role: str, number: Number) -> Bound:
        return Bound(_SIGNS[role], number)

    def between(self, low: Number, high: Number) -> Bound:
        low = low._replace(unit=low.unit or high.unit, currency=low.currency or high.currency)
        return Bound("ge", low, high)

    def united(self, counted: Number | Bound, unit: str) -> Number | Bound | None:
        """With a unit of time, a currency, or ``%``."""
        number = counted.number if isinstance(counted, Bound) else counted
        if number.unit or number.currency:
            return None
        number = (number._replace(currency=unit) if unit.isupper()
                  else number._replace(unit="%" if unit == "share" else unit))  # fmt: skip
        return counted._replace(number=number) if isinstance(counted, Bound) else number

    def half_unit(self, _: str, unit: str) -> Number:
        return {"day": Number("12", "hour"), "year": Number("6", "month")}[unit]

    @_of_each("{0.key} {1}")
    def number_of(self, kind: Kind, name: str, number: Bound | Number) -> Restriction | None:
        return self._compared(kind, name, _bound_of(number))

    @_of_each("{0.key} {1}")
    def number_or_more(self, _: Kind, meaning: Any, role: str) -> Restriction | None:
        is_number = isinstance(meaning, Compares) and meaning.sign == "eq"
        return replace(meaning, sign=_SIGNS[role]) if is_number else None

    @_of_each("{0.key} {1} {3}")
    def one_of_numbers(
        self, kind: Kind, path: str, first: Number, _: str, second: Number
    ) -> Restriction | None:
        values, is_pair = (first.text, second.text), first != second and kind.is_number(path)
        return Equals(path, values, OR.join(values)) if is_pair else None

    @_of_each("{0.key} {1} {2.key}")
    def than_other(self, kind: Kind, name: str, role: str, other: Options) -> Restriction | None:
        path = _number_path(kind, name)
        limit = _number_path(kind, other.by_kind.get(kind.key, ""))
        is_other = path and limit and path != limit
        is_alike = is_other and kind.currency_of(path) == kind.currency_of(limit)
        return Compares(path, _SIGNS[role], limit) if is_alike else None

    @_of_each("limited {0.key} {1}")
    def limited(self, kind: Kind, name: Any, by: str | Bound) -> Restriction | None:
        """``over their credit limit``, ``over 80 % of it``: what is limited against its limit,
        either of which is named where it is a part or exceeded, or a state of it."""
        bound = Bound(_SIGNS.get(by, "gt"), Number("", "%")) if isinstance(by, str) else by
        path = _number_path(kind, name) if isinstance(name, str) else ""
        path = kind.states[name.state].amount if isinstance(name, Is) else path
        limits = kind.data.get("limits", {})
        limit = next((limit for limit, of in limits.items() if path and path in (limit, of)), "")
        is_limit = limit and (path == limit or by in ("exceeded", bound))
        if not is_limit or bound.number.unit != "%":
            return None
        return Compares(limits[limit], bound.sign, limit, factor=bound.number.text)

    def amount_bound(self, draft: Draft, bound: Bound) -> Draft | None:
        is_of_one = (
            draft.named
            or draft.groups
            or (draft.where and len(draft.kinds) == 1 and not draft.figures)
        )
        if not is_of_one:
            return None
        if draft.groups:
            return None if draft.threshold or bound.upper else self._of_currency(draft, bound)
        by_kind = {}
        for key in draft.kinds:
            name = self._usual_number(key, draft, bound)
            comparison = self._compared(self.kinds[key], name, bound) if name else None
            if comparison is not None:
                by_kind[key] = comparison
        return draft.restricted(options(f"amount {bound}", by_kind), left=False)

    def so_many_of(self, number: Bound | Number, draft: Draft, *, left: bool) -> Draft | None:
        """Behind it only of what is counted: ``number of open deals = 0``."""
        if left and "counted" in draft.flags and draft.is_figure:
            draft = draft._replace(figures=(), flags=draft.flags - {"counted"}, leftward=False)
        elif left:
            return None
        bound = _bound_of(number)
        plain = draft.is_records and not draft.columns
        if not plain or bound.number.unit or bound.number.currency or bound.upper:
            return None
        return draft._replace(threshold=Threshold(bound.sign, bound.number.text, counted=True),
                              figures=(self._count(),))  # fmt: skip

    def of_often(self, bound: Bound) -> Draft | None:
        """``more than 10 times``: of whatever is counted."""
        if bound.number.unit != "times" or bound.upper:
            return None
        threshold = Threshold(bound.sign, bound.number.text, counted=True)
        kinds = frozenset(self.kinds)
        return Draft(kinds, threshold=threshold, figures=(self._count(),))

    def or_so_many(self, draft: Draft, role: str) -> Draft | None:
        """``4 tickets or more``."""
        if draft.threshold is None or draft.threshold.sign != "eq":
            return None
        return draft._replace(threshold=replace(draft.threshold, sign=_SIGNS[role]))

    def figure_bound(self, draft: Draft, bound: Bound) -> Draft | None:
        averaged = draft.is_figure and draft.figures[0].key.startswith("average")
        if not draft.is_figure or bound.upper or (not averaged and (draft.leftward or draft.named)):
            return None
        return self._of_currency(draft, bound)

    def amount_so(self, part: Options, bound: Bound) -> Draft | None:
        draft = self.amounting(part, becoming=True)
        return None if bound.upper else self._of_currency(draft, bound)

    def by_dealings(self, draft: Draft) -> Options | None:
        """``who owe us more than 5000``: by the number that what they do adds up to."""
        bound = draft.threshold
        if bound is None or bound.counted or draft.dated or len(draft.figures) != 1:
            return None
        by_kind: dict[str, Restriction] = {}
        for key, kind in self.kinds.items():
            parts = [choices.by_kind[key] for choices in draft.where if key in choices.by_kind]
            for path, (other, figure, _) in kind.data.get("dealings", {}).items():
                is_of = draft.figures[0].by_kind.get(other) == Figure(figure)
                if is_of and len(parts) == len(draft.where):
                    compared = Compares(path, bound.sign, bound.number, bound.unit)
                    by_kind[key] = All((compared, *parts)) if parts else compared
        return options(f"dealings {draft.figures} {bound} {draft.where}", by_kind)

    def groups_valued(self, part: Options, draft: Draft) -> Draft | None:
        """The groups of records; of one record its own value: ``who handles T-000012``."""
        record = self.what_of(part, draft) if self._is_of_one(draft) else None
        return record or draft.grouped(_groups(part), left=True)

    # --- what is asked

    def which(self, role: str, draft: Draft) -> Draft | None:
        """Who is no deal and no ticket: of those it is asked who is responsible."""
        is_who = any(self.kinds[key].data.get("someone") for key in draft.kinds)
        is_record = draft.rank is not None and draft.rank.of == "records" and not draft.groups
        is_number = draft.is_figure and not draft.columns
        is_record |= draft.is_records and not (draft.where or draft.dated)
        is_record |= self._is_of_one(draft)
        named = [self.kinds[key].dimensions.get(group.dimension) for choices in draft.groups
                 for key, group in choices.by_kind.items()]  # fmt: skip
        is_thing = bool(named) and not any(each and each.key for each in named)
        is_other = (is_record and not is_who) or is_number or is_thing
        return None if role != "list" and is_other else draft.flagged("list")

    def who_does(self, role: str, draft: Draft) -> Draft | None:
        """By the subject of the verb, or by the person who is responsible; or who that is."""
        ranked = draft.rank is not None and draft.rank.of in ("count", "figure")
        is_done = draft.is_deed
        if role == "whom" and draft.rank is not None and draft.rank.word == "best":
            draft = draft._replace(groups=())
            is_done = True  # "wem haben wir am meisten verkauft": not what
        if draft.is_records and not draft.columns:
            known = {key: doer for key in draft.kinds
                     if (doer := self._doer(key, draft)) in self.kinds[key].dimensions}  # fmt: skip
            return self.what_of(options(f"who {sorted(known)}", known), draft)
        bound = draft.threshold
        is_told = draft.is_figure and draft.flags & {"counted", "how much"}  # "who has how much"
        if draft.groups or not (is_done or ranked or bound or is_told) or len(draft.figures) > 1:
            return None
        figures = () if bound is not None and bound.counted else draft.figures[:1]
        groups = {}
        for key in draft.kinds:
            kind = self.kinds[key]
            figure = next((choices.by_kind.get(key) for choices in figures), None)
            verbs = kind.data.get("verbs", {}).values()
            doers = [verb["subject"] for verb in verbs if figure == Figure(verb["figure"])
                     and (is_done or not is_told or figure != Figure(COUNT))]  # fmt: skip
            if bound is not None and not bound.counted and kind.data.get("someone"):
                continue  # "who owes more than 5000": they themselves
            if bound is not None and figure is not None:  # "who won more than 100k"
                doers += [verb["subject"] for verb in verbs]
            subject = (doers or [self._doer(key, draft)])[0]
            subject = "client" if role == "whom" and (is_done or draft.dated) else subject
            if subject in kind.dimensions:
                groups[key] = Group(subject)
        result = draft.grouped(options(f"who {sorted(groups)}", groups), left=True)
        if result.rank is not None or bound is not None:
            return result
        return result._replace(rank=Rank("figure", True, 0, ""))

    def person_of(self, _: str, part: Options) -> Options | None:
        return part if part.key.startswith("user:") else None

    def of_called(self, part: Options) -> Draft | None:
        """Values that say what a record is: an IT manager is a contact; or which it is."""
        paths = {kind: "tags" if isinstance(meaning, Tagged) else getattr(meaning, "path", "")
                 for kind, meaning in part.by_kind.items()}  # fmt: skip
        kinds = [
            kind for kind, path in paths.items() if path in self.kinds[kind].data.get("called", ())
        ]
        is_of_first = part.key.startswith(("number:", "family:"))
        kinds = list(part.by_kind)[:1] if is_of_first else kinds
        if not kinds:
            return None
        return Draft(frozenset(kinds), kinds[0], where=(part,), flags=frozenset(("called",)))

    def of_valued_alone(self, part: Options) -> Draft | None:
        return _being(part) if len(part.by_kind) < 4 else None

    def more_of(self, draft: Draft, role: str, *, left: bool) -> Draft | None:
        directions = draft.flags & {"asked more", "asked less"}
        is_told = draft.named or draft.figures or "state alone" in draft.flags
        if directions or draft.rank or draft.threshold or not is_told or (draft.named and not left):
            return None
        return draft.flagged(f"asked {role}")

    def what_of(self, part: Options, draft: Draft) -> Draft | None:
        is_of_groups = draft.rank is not None and draft.rank.of != "records"
        if draft.figures or draft.groups or draft.threshold or is_of_groups:
            return None
        return draft.showing(self._columns(part))

    def values_then(self, part: Options, when: When) -> Draft | None:
        flags = frozenset(("values",))
        values = Draft(frozenset(part.by_kind), groups=(_groups(part),), flags=flags)
        return values.within(when, None, left=False) if len(part.by_kind) < 3 else None

    def property_of_name(self, part: Options, value: Options) -> Draft | None:
        owner = value.key.partition(":")[0]
        columns = self._columns(part)
        kinds = frozenset(columns.by_kind).intersection(value.by_kind)
        if owner not in (*self.kinds, "number", "user", "family"):  # "price of the Aurora P80"
            kinds = frozenset(key for key in kinds
                              if self._path_of(self.kinds[key], value.by_kind[key])
                              == self.kinds[key].name)  # fmt: skip
        elif owner != "user":  # "T-000012 status" is that of the ticket
            kinds &= {next(iter(value.by_kind))}
        return Draft(kinds, where=(value,), columns=(columns,)) if kinds else None

    def columns_of(self, part: tuple[Options, ...], draft: Draft) -> Draft | None:
        is_known = len(part) > 1 or "before" in draft.flags
        return self.showing(draft._replace(leftward=False), part) if is_known else None

    def more_columns(self, *parts: Any) -> tuple[Options, ...]:
        several = (part if isinstance(part, tuple) else (self._columns(part),) for part in parts)
        return tuple(chain.from_iterable(several))

    def showing(self, draft: Draft, part: tuple[Options, ...]) -> Draft | None:
        is_about = draft.named or ("state alone" in draft.flags and len(part) > 1)
        is_first = draft.rank is not None and draft.rank.of == "records"  # "the 10 biggest, with"
        if (draft.leftward and not is_first) or draft.figures or not is_about:
            return None
        for column in part:
            draft = draft.showing(column)
        return draft

    def charted(self, draft: Draft, role: str) -> Draft | None:
        is_charted = any(flag.startswith("chart") for flag in draft.flags)
        return None if is_charted else draft.flagged(f"chart {role}")

    def in_one_currency(self, draft: Draft, _: str, *codes: str) -> Draft:
        for code in codes:
            if code != organisation().defaults.currency:
                draft = draft.restricted(self.of_currency(code), left=False)
        return draft.flagged("converted")

    # --- what the rules share

    def _each(self, part: Options, key: str, of: Callable[[Kind, Any], Any]) -> Options:
        """What a function makes of the meaning for each kind; without those of which it is nothing.

        Raises: TypeMismatchError, it is nothing for all of them.
        """
        by_kind = {name: of(self.kinds[name], value) for name, value in part.by_kind.items()}
        return options(key, {name: value for name, value in by_kind.items() if value})

    def group(self, part: Options | str | tuple[str, bool]) -> Options:
        """By a dimension, by a unit of time, or by the records of a kind."""
        if isinstance(part, Options):
            return part if part.key.startswith(("by", "grain")) else _groups(part)
        if isinstance(part, str):
            return self.of_grain(part)
        name = self.kinds[part[0]].data["one"]
        by_kind = {key: Group(name) for key, kind in self.kinds.items() if name in kind.dimensions}
        return options(f"by {part[0]}", by_kind)

    def _so_then(self, date: Options) -> frozenset[str]:
        """The kinds whose records are so since that date: lost ones, whenever they were lost."""
        word = tuple(date.key.removeprefix("date:").split())
        states = (entry.value.by_kind.items() for entry in self._lexicon.entries.get(word, ())
                  if entry.category == "state")  # fmt: skip
        dated = ((key, self.kinds[key].states[so.state].date) for key, so in chain(*states))
        return frozenset(key for key, date_of in dated if date_of == date.by_kind.get(key))

    def _duration(self, kind: str, end: str) -> str:
        """The measure that lasts until a date of the records."""
        planned = self.kinds[kind].data.get("planned", {})
        ends = {end, *(done for done, date in planned.items() if date == end)} - {""}
        figures = self.kinds[kind].figures.items()
        return next((name for name, figure in figures if end_of(figure.value) in ends), "")

    def _count(self) -> Options:
        return Options("count", dict.fromkeys(self.kinds, Figure(COUNT)))

    def _path_of(self, kind: Kind, restriction: Restriction) -> str:
        match restriction:
            case Equals(path):
                return path
            case Is(name):
                return kind.states[name].path
            case Not(of) | Either((of, *_)):
                return self._path_of(kind, of)
        return ""

    def _paths(self, kind: Kind, name: str) -> tuple[str | None, ...]:
        dimension = kind.dimensions.get(name)
        return (name,) if dimension is None else (dimension.path, dimension.key or name, name)

    def _dimension_of(self, kind: Kind, restriction: Restriction) -> str:
        path, dimensions = self._path_of(kind, restriction), kind.dimensions.items()
        return next((name for name, of in dimensions if path and path in (of.path, of.key)), "")

    def _property_of(self, kind: Kind, name: str) -> str | None:
        dimension, measure = kind.dimensions.get(name), kind.figures.get(name)
        if dimension is not None:
            path = dimension.key or dimension.path
            return path if not path.startswith("case(") else None
        return name if measure is None else _number_path(kind, name) or None

    def _columns(self, part: Options | str) -> Options:
        """The paths that names stand for, as columns; an amount is the usual one."""
        if isinstance(part, str):
            amounts = {key: kind.amount for key, kind in self.kinds.items() if kind.amount}
            return Options("column amount", amounts)

        def column(kind: Kind, name: str) -> str | None:
            dimension = kind.dimensions.get(name)
            path = kind.path_of(name) if dimension is None else dimension.path
            is_path = "(" not in path and " " not in path
            return path if is_path and ("/" in path or kind.prop(path) is not None) else None

        return self._each(part, f"column {part.key}", column)

    def of_currency(self, code: str) -> Options:
        equal = {}
        for key, kind in self.kinds.items():
            own = "currency" if kind.prop("currency") else ""
            if money := kind.currency_of(kind.amount or "") or own:
                equal[key] = Equals(money, (f"'{code}'",), code)
        return Options(f"currency:{code}", equal)

    def _amounts(self, draft: Draft) -> Options:
        """The usual amount of each kind; of records in a state the amount that counts then."""
        by_kind = {}
        for key in draft.kinds:
            due = self.kinds[key].amount_of(draft.said_of(key))
            if usual := self.kinds[key].usual:
                by_kind[key] = Figure(due or usual)
        return options(f"amount {sorted(figure.measure for figure in by_kind.values())}", by_kind)

    @staticmethod
    def _by_method(draft: Draft, method: str) -> Draft:
        if not method:
            return draft
        first = draft.figures[0]
        by_kind = {kind: replace(meaning, method=method) for kind, meaning in first.by_kind.items()
                   if not meaning.is_rate}  # fmt: skip
        choices = Options(f"{method} {first.key}", by_kind)
        return draft._replace(figures=(choices, *draft.figures[1:]))

    def _related(self, draft: Draft, *, negated: bool = False) -> Options:
        """Other kinds that have such records, as a restriction of them."""
        inside = draft.named if draft.named in draft.kinds else next(iter(sorted(draft.kinds)))
        where, bound = self._where_of(draft, inside), draft.threshold
        if draft.columns or draft.rank or draft.groups or (bound and not bound.counted):
            raise TypeMismatchError("what others have is records")
        some = Has(inside, where)
        if bound is not None:
            some = Has(inside, where, bound.sign, bound.number)
        has = _none_of(some) if negated else some
        owners = (key for key, kind in self.kinds.items() if inside in kind.related)
        by_kind = {key: has for key in owners if not self._is_of(inside, key, where)}
        name = _NONE if negated else "has "
        return options(f"{name}{draft.kinds} {where} {bound}", by_kind)

    def _is_of(self, inside: str, owner: str, where: Sequence[Restriction]) -> bool:
        """Whether related records are restricted by what their owner is, which that says itself."""
        navigation = self.kinds[inside].to_one.get(owner, "-")
        parts = (part for restriction in _flat(where) for part in inner(restriction))
        return any(
            isinstance(part, Equals) and part.path.startswith(f"{navigation}/") for part in parts
        )

    def _where_of(self, draft: Draft, kind: str) -> tuple[Restriction, ...]:
        """All that is said of records of a kind, periods by the date that they are about."""
        if kind not in draft.kinds:
            raise TypeMismatchError(f"not all of it can be said of {kind}")
        restrictions = draft.said_of(kind)
        events = [date.by_kind[kind] for date in draft.events]
        implied = (state.date for state in self.kinds[kind].stated(restrictions))
        date = next(filter(None, (*events[:1], *implied)), "")
        restrictions += [Dated(when, dated.by_kind[kind] if dated else date)
                 for when, dated in draft.dated if when.words]  # fmt: skip
        for date in (date for _, date in draft.dated if date and len(events) == len(draft.dated)):
            if kind in self._so_then(date):
                raise TypeMismatchError("lost ones are so, whenever they were lost")
            restrictions += self.kinds[kind].happened(date.by_kind[kind])
        return _flat(restrictions)

    def belonging(self, draft: Draft) -> Options:
        """Other kinds whose records belong to such ones, as a restriction of them."""
        inside = draft.named
        if not inside or not draft.is_plain or draft.columns:
            raise TypeMismatchError("what others belong to is records")
        if draft.dated and all(date is None for _, date in draft.dated):
            raise TypeMismatchError("a bare period says the time of what is asked for")
        where = self._where_of(draft, inside)
        return self._of_owner(inside, where, f"of {inside} {where}")

    def _of_owner(self, owner: str, where: tuple[Restriction, ...], key: str) -> Options:
        belonging = {name: Of(owner, where) for name, kind in self.kinds.items()
                     if where and owner in kind.to_one and name != owner}  # fmt: skip
        return options(key, belonging)

    def _done(self, deed: Draft, *, negated: bool) -> Options:
        by_kind: dict[str, Restriction] = {}
        for inside in sorted(deed.kinds):
            where = self._where_of(deed, inside)
            name = next(flag for flag in deed.flags if flag.startswith("verb "))
            measure = self.kinds[inside].figures.get(deed.figures[0].by_kind[inside].measure)
            if measure is not None and measure.snapshot:
                where = (Is("open"), *where)
            for key, kind in self.kinds.items():
                if inside in kind.related and key not in by_kind:
                    has = Has(inside, where)
                    by_kind[key] = _none_of(has) if negated else has
        return options(f"{_NEVER if negated else 'did '}{name} {deed.where} {deed.dated}", by_kind)

    def _per_subject(self, subject: Draft, draft: Draft, *, left: bool = True) -> Draft | None:
        """A figure of one kind for each record of another: by its dimension."""
        name = self.kinds[subject.named].data["one"]
        groups: dict[str, Group] = {}
        belongs: dict[str, Restriction] = {}
        where = self._where_of(subject, subject.named)
        for key in draft.kinds:
            kind = self.kinds[key]
            own = key == subject.named
            if name in kind.dimensions and (not where or own or subject.named in kind.to_one):
                groups[key] = Group(name)
                belongs[key] = All(where) if own else Of(subject.named, where)
        group = options(f"by {subject.named}", groups)
        group = replace(group, are_several="singular" not in subject.flags)
        result = draft.grouped(group, left=left)
        if not where:
            return result
        return result.restricted(Options(f"of {subject.named} {where}", belongs), left=left)

    def _in_figure_order(
        self, subject: Draft, draft: Draft, *, down: bool, limit: int
    ) -> Draft | None:
        paths = {}
        for key in subject.kinds & draft.kinds:
            path = self.kinds[key].path_of(draft.figures[0].by_kind[key].measure)
            if self.kinds[key].is_number(path):
                paths[key] = path
        rank = Rank("records", down, limit, "by", options(f"order {paths}", paths))
        return subject.only(paths)._replace(rank=rank)

    def in_order(self, draft: Draft, part: Options) -> Draft:
        down = all(path.endswith(" desc") for path in part.by_kind.values())
        paths = self._each(part, part.key, lambda _, path: path.removesuffix(" desc"))
        rank = Rank("records", down, 0, "order", paths)
        return draft.only(part.by_kind)._replace(rank=rank, leftward=True)

    def _compared(self, model_kind: Kind, name: str, bound: Bound) -> Restriction | None:
        """A number of a record against a bound, if it is counted in the same."""
        measure = model_kind.figures.get(name)
        if name in model_kind.dimensions:
            return None
        if measure is None and not model_kind.is_number(name):
            return None
        path = model_kind.path_of(name)
        unit, number = bound.number.unit.removesuffix("times"), bound.number
        money = measure.money if measure is not None else model_kind.currency_of(name)
        percent = path.endswith(("Percent", "Rate", "probability")) or path == "probability"
        if number.currency and not money:
            return None
        if unit == "%" and not percent:
            return None
        if unit in roles("time"):
            days = "days" if "days" in path.lower() else ""
            if (measure.unit if measure is not None else days) != f"{unit}s":
                return None
        is_lasting = measure is not None and (measure.snapshot or measure.unit == "days")
        counted = measure.filter if measure is not None and is_lasting else None
        comparison: Restriction = Compares(name, bound.sign, number.text, unit)
        if bound.upper is not None:
            comparison = All((comparison, Compares(name, "le", bound.upper.text, unit)))
        if number.currency and money:
            comparison = All(
                (comparison, Equals(money, (f"'{number.currency}'",), number.currency))
            )
        state = model_kind.state_with(counted)  # what is outstanding is so of open invoices alone
        return All((Is(state), *parts_of(comparison))) if state else comparison

    def _usual_number(self, kind: str, draft: Draft, bound: Bound) -> str:
        """The property that a bare number is about."""
        model_kind = self.kinds[kind]
        if bound.number.unit == "%":
            return str(model_kind.data.get("percent", ""))
        if bound.number.unit:
            return ""
        if due := model_kind.amount_of(draft.said_of(kind)):
            return due
        if model_kind.data.get("unranked") and not bound.number.currency:
            return ""
        return model_kind.amount or ""

    def _of_currency(self, draft: Draft, bound: Bound) -> Draft:
        number = bound.number
        bounded = draft._replace(threshold=Threshold(bound.sign, number.text, unit=number.unit))
        if number.currency:
            return bounded.restricted(self.of_currency(number.currency), left=False)
        return bounded

    def amounting(self, part: Options, *, becoming: bool = False) -> Draft:
        """The amount that is due in a state; ``becoming``: of what became so the usual one."""

        def amount(kind: Kind, meaning: Restriction) -> Figure | None:
            usual = kind.usual if becoming else ""
            amounts = (state.amount or (state.date and usual) for state in kind.stated((meaning,)))
            return next((Figure(name) for name in amounts if name), None)

        figure = self._each(part, f"amount {part.key}", amount)
        where = Options(part.key, {key: part.by_kind[key] for key in figure.by_kind})
        return _measuring(figure, where=(where,))

    def _is_of_one(self, draft: Draft) -> bool:
        """Whether it is about one record, by its number."""
        meanings = (part.by_kind.get(key) for part in draft.where for key in draft.kinds
                    if part.key.startswith("number:"))  # fmt: skip
        return any(isinstance(meaning, Equals) and "/" not in meaning.path for meaning in meanings)

    def _doer(self, kind: str, draft: Draft) -> str:
        """Who does what records went through: clients pay; else who is responsible for them."""
        data, figures = self.kinds[kind].data, self.kinds[kind].figures
        states = self.kinds[kind].stated(draft.said_of(kind))
        measures = (figures.get(of.by_kind[kind].measure) for of in draft.figures)
        dates = [state.date for state in states]
        dates += [measure.date or "" for measure in measures if measure is not None]
        doers = (data.get("done_by", {}).get(date) for date in dates)
        return str(next(filter(None, doers), data.get("person", "owner")))

    def _soon(self, draft: Draft) -> Draft:
        """How long it takes; of what no time is known, the usual one of its kind."""
        try:
            lasting = self._lasting(draft)
        except TypeMismatchError:
            return draft
        is_age = any(figure.measure == "age" for figure in lasting.figures[0].by_kind.values())
        return draft if is_age else lasting

    def _lasting(self, draft: Draft) -> Draft:
        """How long it takes until records are so: the duration that ends on that date."""
        is_deed = draft.is_deed
        if draft.figures and not is_deed:
            figures = draft.figures[0].by_kind.items()
            known = (self.kinds[kind].figures.get(figure.measure) for kind, figure in figures)
            if any(measure is not None and measure.unit for measure in known):
                return draft
            raise TypeMismatchError("no time that something takes")
        by_kind, flags = {}, set[str]()
        for key in draft.kinds:
            kind = self.kinds[key]
            ends = {state.date for state in kind.stated(draft.said_of(key))}
            ends |= {date.by_kind[key] for date in draft.events}
            named = [self._duration(key, end) for end in sorted(ends)]
            lasts_yet = draft.where and not any(ends) and "age" in kind.figures
            since = [*map(kind.since, draft.said_of(key))]
            ages = (name for name, figure in kind.figures.items()
                    if any(date and figure.value.startswith("totalseconds(date(now()) sub")
                           and f"sub {date})" in figure.value for date in since))  # fmt: skip
            age = next(ages, "age") if lasts_yet else ""
            usual = "" if draft.where or not draft.named else next((
                name for name, figure in kind.figures.items()
                if figure.unit and figure.low_is_good and figure.date), "")  # fmt: skip
            if duration := next((name for name in named if name), age or usual):
                by_kind[key] = Figure(duration)
                flags |= {"usual time"} if duration == usual else set()
            for verb in kind.data.get("verbs", {}).values() if is_deed else ():
                lasting = verb.get("lasting", {}).items()
                by_kind |= {other: Figure(figure) for other, figure in lasting}
        choices = options(f"lasting {sorted(by_kind)}", by_kind)
        return draft._replace(kinds=frozenset(by_kind), figures=(choices,)).flagged(*flags)


def _only(part: Options | str) -> int:
    """That only one is meant, where it is not said in the plural."""
    return int(isinstance(part, str) or not part.are_several)


def _none_of(has: Has) -> Not:
    """That there is none; of what lasts (``no activity for 2 months``) none since then."""
    where = [so if not (isinstance(so, Dated) and is_lasting(so.when))
             else Dated(since_then(so.when), so.date) for so in has.where]  # fmt: skip
    return Not(replace(has, where=tuple(where)))


def _bound_of(number: Bound | Number) -> Bound:
    return number if isinstance(number, Bound) else Bound("eq", number)


def _flat(where: Sequence[Any]) -> tuple[Restriction, ...]:
    return tuple(part for restriction in where for part in parts_of(restriction))


def end_of(value: str) -> str:
    """The date at which a duration ends: ``totalseconds(solvedAt sub createdAt)``."""
    inside = value.partition("totalseconds(")[2].partition(" sub ")[0]
    return inside.removeprefix("date(").removesuffix(")")


def _in_hours(number: Number) -> Decimal | None:
    per = {"hour": 1, "day": 24, "week": 168}.get(number.unit)
    return None if per is None else Decimal(number.text) * per


def _member(
    states: Mapping[str, State], restriction: Restriction, beside: Restriction
) -> Restriction:
    """``open or on hold``: the state of that name, not all those that the other is one of."""
    if not isinstance(restriction, Is) or not isinstance(beside, Is):
        return restriction
    other = states[beside.state]
    name = f"{other.path}.{restriction.state.capitalize()}"
    is_of_it = bool(other.path) and other.value in states[restriction.state].filter
    return Is(name) if is_of_it and name in states else restriction


def _either(restriction: Restriction, other: Restriction) -> Restriction:
    match restriction, other:
        case Equals(path, values, label), Equals(same, more, name) if path == same:
            return Equals(path, (*values, *more), f"{label}{OR}{name}")
    return Either((*alternatives_of(restriction), other))


def _being(so: Options, **parts: Any) -> Draft:
    """Whatever is so."""
    return Draft(frozenset(so.by_kind), where=(so,), **parts)


def _measuring(figures: Options, **parts: Any) -> Draft:
    """A figure of whatever has it."""
    return Draft(frozenset(figures.by_kind), figures=(figures,), **parts)


def _dated_as(kind: Kind, path: str, when: When) -> Restriction:
    """A date in a period, of the records that the date alone implies: what is due is not paid."""
    implied = kind.state_with(kind.dates.get(path))
    dated = Dated(when, path)
    return All((Is(implied), dated)) if implied else dated


def _so_since(kind: Kind, meaning: Restriction) -> list[State]:
    """The state that is said, alone or with how long it has been so."""
    first, *more = parts_of(meaning)
    since = kind.data.get("states", {}).get(getattr(first, "state", ""), {})
    return kind.stated((first,)) if not more or "since" in since else []


def _known(kind: Kind, path: str) -> Restriction:
    prop = kind.prop(path)
    is_count = kind.is_number(path) and prop is not None and not prop.nullable
    return Compares(path, "gt", "0") if is_count else Known(path)


def _number_path(kind: Kind, name: str) -> str:
    """The property that is a number of each record; empty for none."""
    path = kind.path_of(name)
    return path if path and kind.is_number(path) else ""


def _figures(part: Options) -> Options:
    return Options(part.key, {kind: Figure(name) for kind, name in part.by_kind.items()})


def _groups(part: Options) -> Options:
    groups = {kind: Group(name) for kind, name in part.by_kind.items()}
    return replace(part, key=f"by {part.key}", by_kind=groups)
