"""The words of a question made leaves of a chart: entries, periods, numbers, names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from app.bi.questions import ranker
from app.bi.questions.chart import Chart, Parsed
from app.bi.questions.drafts import Draft
from app.bi.questions.lexicon import LONGEST_PHRASE, Entry, Lexicon
from app.bi.questions.names import Name, Names
from app.bi.questions.periods import Periods, Spoken
from app.bi.questions.rules import Grammar, Number
from app.bi.words.tokens import Token, repaired, repairs, tokenise

MOST_WORDS = 80
_MOST_CROSSED = 4  # words in a row
_MOST_DIGITS = 18  # of a number that records can have
_WIDEST_PHRASE = 8  # words, with the fillers between
_MOST_BETWEEN = 4  # words from an article to its noun
_JOINING = frozenset(("f:versus", "f:compare", "f:and", "f:or", "f:of", "f:by", "f:person"))
# Stands in front of what goes on and behind it, for the records before.
_BEFORE = Token("", "", "before")
_ORDERS = frozenset(("f:descending", "f:ascending", "f:newestfirst", "f:oldestfirst",
                     "f:bestfirst", "f:worstfirst"))  # fmt: skip
_FIGURES = frozenset(("f:count", "f:much", "f:amount", "f:total", "f:average", "f:share"))
SUPERLATIVES = frozenset((
    "f:most", "f:least", "f:top", "f:bottom", "f:highest", "f:lowest", "f:common",
))  # fmt: skip
_TIMES = frozenset(("f:day", "f:week", "f:month", "f:quarter", "f:year", "f:hour"))


@dataclass(frozen=True)
class Leaf:
    """A meaning of the words from ``start`` to ``end``."""

    start: int
    end: int
    category: str
    meaning: Any
    features: tuple[str, ...]


@dataclass
class Read:
    """What was read of a question, before anything is combined."""

    tokens: list[Token]
    leaves: list[Leaf] = field(default_factory=list)
    crossing: list[str] = field(default_factory=list)  # the feature of crossing each token
    places: list[int] = field(default_factory=list)  # token -> place in the chart
    names: list[Name] = field(default_factory=list)

    @property
    def repaired(self) -> tuple[tuple[str, str], ...]:
        """Words that were misspelt, and what they were read as."""
        named = {at for one in self.names for at in range(one.start, one.end)}
        return repairs([one for at, one in enumerate(self.tokens) if at not in named])

    def words_at(self, places: Iterable[int]) -> Iterator[str]:
        """The words that stand at places of the chart, light ones left out."""
        for place in sorted(set(places)):
            if not ranker.is_light(self.crossing[place]):
                yield " ".join(
                    token.text for token, at, behind
                    in zip(self.tokens, self.places, self.places[1:], strict=False)
                    if at == place and behind > place
                )  # fmt: skip

    def leaves_at(self, place: int) -> Iterator[Leaf]:
        """What the words at a place of the chart can mean."""
        for leaf in self.leaves:
            if self.places[leaf.start] <= place < self.places[leaf.end]:
                yield leaf

    def means(self, start: int, end: int) -> bool:
        """Whether words that stand for nothing are told by a dimension or a property as well."""
        telling = (leaf for leaf in self.leaves if leaf.category in ("dimension", "property"))
        return any((leaf.start, leaf.end) == (start, end) for leaf in telling)

    @property
    def is_ranked(self) -> bool:
        """Whether it has a superlative."""
        return any(one.category in SUPERLATIVES for one in self.leaves)

    @property
    def has_groups(self) -> bool:
        """Whether it says what can be counted by: a kind, a dimension, a unit of time."""
        told = ("kind", "dimension", "grain", "f:day", "f:week", "f:month", "f:quarter", "f:year")
        return any(one.category in told for one in self.leaves)

    @property
    def stems(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return tuple(one.stem for one in self.tokens)

    @property
    def length(self) -> int:
        """How many places the chart has."""
        return self.places[-1]


class Reader:
    """Reads questions of one language on a day."""

    def __init__(self, lexicon: Lexicon, periods: Periods, grammar: Grammar) -> None:
        self._lexicon, self._periods, self._grammar = lexicon, periods, grammar

    def read(self, question: str, before: Draft | None = None) -> Read:
        """The leaves of a question; ``before``: the records that it goes on from."""
        tokens = self._tokens(question)
        if before is not None:
            tokens = [_BEFORE, *tokens[self._lead_in(tokens) :], _BEFORE]
        found = Read(tokens)
        stems = [one.stem for one in tokens]
        for at in (0, len(tokens) - 1) if before is not None else ():
            found.leaves.append(Leaf(at, at + 1, "question", before, ("leaf before",)))
        found.leaves += _apart_from_orders(list(self._entries(tokens, stems)))
        found.leaves += self._times(tokens)
        found.leaves += self._numbers(tokens, stems)
        known = self._known(found, stems)
        names = Names(self._lexicon)
        written = [replace(one, text=one.repaired_from or one.text) for one in tokens]
        known = [is_known and not one.repaired_from for is_known, one in
                 zip(known, tokens, strict=True)]  # fmt: skip
        own = set(self._ourselves(found, stems))
        for name in names.find(written, stems, known):
            if own.issuperset(range(name.start, name.end)):
                continue
            features = ("leaf value", *(("unsure name",) * min(name.prior, 2)),
                        f"value {name.options.key.partition(':')[0]}",
                        *(("several records",) if name.choices else ()))  # fmt: skip
            found.leaves.append(Leaf(name.start, name.end, "value", name.options, features))
            found.names.append(name)
        for at, token in enumerate(tokens):
            if token.stem in self._mine:
                found.leaves.append(Leaf(at, at + 1, "value", names.mine(), ("leaf mine",)))
        found.leaves = [
            one for one in found.leaves if not own.issuperset(range(one.start, one.end))
        ]
        self._place(found, stems, own)
        return found

    def parsed(self, read: Read, weights: Mapping[str, float]) -> Parsed:
        """The analyses of all words."""
        chart = Chart(self._grammar.rules, self._grammar.lifts, weights)
        for leaf in read.leaves:
            start, end = read.places[leaf.start], read.places[leaf.end]
            if start == end:
                continue
            begins = (0, start) if 0 < start <= _MOST_CROSSED else (start,)
            for stop in range(end, min(end + _MOST_CROSSED, read.length) + 1):
                for begin in begins:
                    places = (*range(begin, start), *range(end, stop))
                    features = (*leaf.features, *(read.crossing[place] for place in places))
                    places = tuple(one for one in places if read.crossing[one] != "going on")
                    chart.put(begin, stop, leaf.category, leaf.meaning, features, places)
        return chart.parsed(read.length, "question")

    # --- leaves

    def _lead_in(self, tokens: Sequence[Token]) -> int:
        """How many words in front only say that something goes on: ``and what about``."""
        stems, at = [one.stem for one in tokens], 0
        while at < len(stems):
            led = max((n for n in range(1, LONGEST_PHRASE) if tuple(stems[at : at + n])
                       in self._lexicon.follows), default=0)  # fmt: skip
            if not led or led < max((n for n, _ in self._lexicon.at(stems, at)), default=0):
                break
            at += led
        return at if at < len(stems) else 0

    def _tokens(self, question: str) -> list[Token]:
        tokens = tokenise(question)[:MOST_WORDS]
        if self._lexicon.code != "en":
            tokens = [part for one in tokens for part in self._parts(one)][:MOST_WORDS]
            tokens = self._with_ordinals(tokens)
        return self._rejoined(list(repaired(tokens, self._lexicon.known)))

    def _with_ordinals(self, tokens: Sequence[Token]) -> list[Token]:
        """``das 90. Perzentil``: behind a short number the dot ends no sentence."""
        shorts = [token.kind == "number" and len(token.text) < 3 for token in tokens]
        return [replace(token, apart=False, mark="") if token.mark == "." and is_short else token
                for token, is_short in zip(tokens, (False, *shorts), strict=False)]  # fmt: skip

    def _rejoined(self, tokens: list[Token]) -> list[Token]:
        """``schließen nächste Woche ab``: a verb before its end again, which ends a clause; of
        ``nach Land sortiert`` the end behind its beginning."""
        begun = 0
        for at in range(1, len(tokens)):
            begun = at if tokens[at].apart else begun
            is_end = at + 1 == len(tokens) or tokens[at + 1].apart
            if tokens[at].stem not in self._lexicon.particles or not is_end:
                continue
            for start in range(at - 2, begun - 1, -1):
                entries = self._lexicon.entries.get((tokens[start].stem, tokens[at].stem), ())
                if any(entry.category.startswith("f:") for entry in entries):
                    tokens.insert(start + 1, tokens.pop(at))
                elif entries:
                    tokens.insert(at - 1, tokens.pop(start))
                if entries:
                    break
        return tokens

    def _parts(self, token: Token) -> list[Token]:
        """A word by its stem, a compound as its parts; a capital letter says nothing."""
        if token.kind != "word":
            return [replace(token, number=self._number(token))]
        parts = self._lexicon.parts(token.text)
        return [replace(token, text=part, stem=self._lexicon.stem(part), first=True,
                        apart=token.apart and not at) for at, part in enumerate(parts)]  # fmt: skip

    def _number(self, token: Token) -> Decimal | None:
        """A number as the language writes it: ``10.000`` is ten thousand where dots part them."""
        mark = self._lexicon.data["language"].get("thousands", "")
        parts = token.text.split(mark) if mark else []
        grouped = len(parts) > 1 and all(len(one) == 3 for one in parts[1:])
        if token.number is None or not grouped or not all(one.isdecimal() for one in parts):
            return token.number
        return Decimal("".join(parts))

    def _entries(self, tokens: Sequence[Token], stems: Sequence[str]) -> Iterator[Leaf]:
        for at, end, length, entry in self._phrases(stems):
            if any(one.apart and one.mark != "(" for one in tokens[at + 1 : end]):
                continue
            features = (f"leaf {entry.category}", *(("longer phrase",) * (length - 1)))
            if entry.category in ("state", "measure", "date", "property", "verb"):
                features = (*features, f"word {entry.category} {stems[at]}")
            elif entry.category in _JOINING:
                features = (*features, f"word {entry.category} {' '.join(stems[at:end])}")
            value = entry.value
            if entry.category in ("kind", "named"):
                said = " ".join(one.text for one in tokens[at:end]).lower()
                is_one = said == " ".join(stems[at:end])
                is_one |= entry.category == "kind" and said in self._lexicon.singular
                is_one |= self._is_of_one(tokens, stems, at)
                value = (value, is_one)
            yield Leaf(at, end, entry.category, value, features)

    def _is_of_one(self, tokens: Sequence[Token], stems: Sequence[str], at: int) -> bool:
        """Whether an article says that it is one record: ``des größten offenen Deals``."""
        begin = max((start for start in range(at + 1) if tokens[start].apart), default=0)
        before = stems[max(begin, at - _MOST_BETWEEN) : at]
        return not self._lexicon.of_one.isdisjoint(before)

    def _phrases(self, stems: Sequence[str]) -> Iterator[tuple[int, int, int, Entry]]:
        """Entries where their words stand: from, to, how many words are theirs.

        Fillers may stand between them (``amount still due``), and the last words of two may be said
        once (``net and gross revenue``).
        """
        lexicon = self._lexicon
        for at in range(len(stems)):
            for length, entry in lexicon.at(stems, at):
                yield at, at + length, length, entry
            places = [at, *(place for place in range(at + 1, min(at + _WIDEST_PHRASE, len(stems)))
                            if stems[place] not in lexicon.fillers)]  # fmt: skip
            for length, entry in lexicon.at([stems[place] for place in places], 0):
                end = places[length - 1] + 1
                if end > at + length and not entry.category.startswith("f:"):
                    yield at, end, length, entry
            joint = lexicon.entries.get(tuple(stems[at + 1 : at + 2]), ())
            if at + 2 < len(stems) and any(one.category == "f:and" for one in joint):
                for length, entry in lexicon.at(stems, at + 2):
                    whole = (stems[at], *stems[at + 3 : at + 2 + length])
                    for other in lexicon.entries.get(whole, ()) if length > 1 else ():
                        if other.category == entry.category == "measure":
                            yield at, at + 1, 1, other

    def _times(self, tokens: Sequence[Token]) -> Iterator[Leaf]:
        ends: dict[int, int] = {}
        for one in self._with_days(tokens, list(self._periods.find(tokens))):
            features = ("leaf period", *(("longer phrase",) * (one.end - one.start - 1)))
            ends[one.start] = max(one.end, ends.get(one.start, 0))
            yield Leaf(one.start, one.end, "period", one.when, features)
        for start, end, grain in self._periods.grains(tokens):
            if end >= ends.get(start, 0):  # "a month ago" is not by month
                yield Leaf(start, end, "grain", grain, ("leaf grain",))

    def _with_days(self, tokens: Sequence[Token], said: Sequence[Spoken]) -> Iterator[Spoken]:
        """Periods, those with their days behind them (``last month (2026-05-01 to 2026-05-31)``, as
        answers tell them) as one."""
        days = {one.start: one for one in reversed(said) if tokens[one.start].mark == "("}
        again: set[int] = set()
        for one in said:
            other = days.get(one.end)
            if other is not None and self._periods.are_alike(one.when, other.when):
                again.update(range(other.start, other.end))
                yield replace(one, end=other.end)
            elif one.start not in again:
                yield one

    def _numbers(self, tokens: Sequence[Token], stems: Sequence[str]) -> Iterator[Leaf]:
        for at, token in enumerate(tokens):
            if token.kind in ("number", "percent") and token.number is not None:
                text = f"{token.number.normalize():f}"
                if len(text) > _MOST_DIGITS:
                    continue
                unit = "%" if token.kind == "percent" else ""
                yield Leaf(at, at + 1, "number", Number(text, unit), ("leaf number",))
            elif (number := self._periods.number(token)) is not None and not (
                token.stem in self._lexicon.fillers and token.text.lower() == f"{token.stem}s"
            ):  # "blocked ones" are no number
                yield Leaf(at, at + 1, "number", Number(str(number)), ("leaf number word",))
            elif token.stem in self._articles and self._is_unit(stems, at + 1):
                yield Leaf(at, at + 1, "number", Number("1"), ("leaf article",))

    def _is_unit(self, stems: Sequence[str], at: int) -> bool:
        if at >= len(stems):
            return False
        return any(entry.category in _TIMES for _, entry in self._lexicon.at(stems, at))

    @property
    def _mine(self) -> frozenset[str]:
        return frozenset(self._lexicon.stem(one) for one in self._lexicon.data["words"]["me"])

    @property
    def _articles(self) -> frozenset[str]:
        return frozenset(self._lexicon.data["language"]["articles"])

    def _known(self, found: Read, stems: Sequence[str]) -> list[bool]:
        """Of each word whether it means something; one that was repaired may be a name as it is."""
        known = [stem in self._lexicon.fillers for stem in stems]
        for leaf in found.leaves:
            for at in range(leaf.start, leaf.end):
                known[at] = found.tokens[at].repaired_from is None
        return known

    # --- places

    def _ourselves(self, read: Read, stems: Sequence[str]) -> Iterator[int]:
        """The places of what we call ourselves, unless it begins something else: ``our support``
        is no category of tickets."""
        phrases = self._lexicon.phrases("language", "ourselves")
        for at in range(len(stems)):
            for end in range(at + 2, min(at + LONGEST_PHRASE, len(stems)) + 1):
                goes_on = any(at < one.start < end < one.end for one in read.leaves)
                if tuple(stems[at:end]) in phrases and not goes_on:
                    yield from range(at, end)

    def _place(self, read: Read, stems: Sequence[str], own: Container[int]) -> None:
        """Words that are passed over for nothing have no place; each other has a price."""
        begun = {leaf.start for leaf in read.leaves}
        covered: dict[int, set[str]] = {}
        for leaf in read.leaves:
            for at in range(leaf.start, leaf.end):
                covered.setdefault(at, set()).add(leaf.category)
        asides = set(_asides(read.tokens, covered))
        place = 0
        for at, token in enumerate(read.tokens):
            read.places.append(place)
            if at in asides:
                if at - 1 not in asides or token.apart:
                    read.crossing.append("cross clause")
                    place += 1
                continue
            if at in own or (token.stem in self._lexicon.fillers and at not in begun):
                continue
            is_filler = token.stem in self._lexicon.fillers
            crossing = ranker.FILLER if is_filler else _crossing(token, covered.get(at, set()))
            read.crossing.append(crossing)
            place += 1
        read.places.append(place)
        for at, token in enumerate(read.tokens):
            if token is _BEFORE:
                read.crossing[read.places[at]] = "going on"


def _apart_from_orders(leaves: list[Leaf]) -> list[Leaf]:
    """The leaves without what is part of a longer phrase: ``biggest first`` has no biggest,
    ``total amount of`` no count."""
    orders = [one for one in leaves if one.category in _ORDERS]
    amounts = [one for one in leaves if one.category == "f:amount"]
    return [
        leaf for leaf in leaves
        if not any(order.start <= leaf.start and leaf.end <= order.end
                   and leaf.end - leaf.start < order.end - order.start
                   for order in (*orders, *(amounts if leaf.category == "f:count" else ())))
    ]  # fmt: skip


def _asides(tokens: Sequence[Token], covered: Mapping[int, set[str]]) -> Iterator[int]:
    """The words of whole clauses that say nothing of records: ``sorry to bother you again:``."""
    starts = [at for at, token in enumerate(tokens) if token.apart or not at]
    for start, end in pairwise((*starts, len(tokens))):
        told = [covered.get(at, set()) for at in range(start, end)]
        said = {one for categories in told for one in categories if not one.startswith("f:")}
        is_named = any(one.is_capital or one.kind != "word" for one in tokens[start:end])
        is_empty = said <= {"number", "grain"} and not is_named and not all(told)
        # "And what is the average?" asks for more.
        is_empty &= not start or not any(categories & _FIGURES for categories in told)
        if is_empty and 1 < end - start < len(tokens):
            yield from range(start, end)


def _crossing(token: Token, categories: set[str]) -> str:
    """The feature of a word that nothing is made of, by what it could have been."""
    roles = {one for one in categories if one.startswith("f:")}
    role = " ".join(sorted(one.removeprefix("f:") for one in roles))
    if not categories:
        if token.kind in ("number", "percent", "date"):
            return "cross number date" if token.kind == "date" else "cross number"
        return "cross name" if token.is_capital else "cross unknown"
    if categories <= roles | {"grain"}:
        return f"cross word {role}"
    if categories & {"period", "number", "value"}:
        return f"cross {sorted(categories & {'period', 'number', 'value'})[0]}"
    return f"cross content {'/'.join(sorted(categories - roles))} {role}".rstrip()
