"""The words of a question made leaves of a chart: entries, periods, numbers, names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

from app.bi.questions import ranker
from app.bi.questions.chart import Chart, Parsed
from app.bi.questions.drafts import Draft
from app.bi.questions.lexicon import CURRENCY_CODES, LONGEST_PHRASE, Entry, Lexicon, Options
from app.bi.questions.names import Name, Names
from app.bi.questions.periods import Periods, corrected
from app.bi.questions.roles import roles_data, words
from app.bi.questions.rules import Bound, Grammar, Number
from app.bi.words.tokens import Token, repaired, repairs, tokenise

MOST_WORDS = 80
_MOST_CROSSED = 4  # words in a row
_MOST_BETWEEN = 4  # words from an article to its noun
_MOST_DIGITS = 18  # of a number that records can have
_WIDEST_PHRASE = 8  # words, with the fillers between
THIS = "leaf this"  # the feature of what stands for a record that was named before
_CLAUSE = "cross clause"  # the crossing of words that say nothing of records
# Stands in front of what goes on and behind it, for the records before.
_BEFORE = Token("", "", "before")
_ASKED_OF = frozenset(("kind", "dimension"))
_NAMING = frozenset(("kind", "dimension", "measure", "property", "value", "named"))
# What a clause may have that says nothing of what is asked for, and what says something.
_REMARK = frozenset(("grain",))
_PURPOSE = frozenset(
    ("period", "grain", "property", "date", "moment", "kind", "dimension", "state")
)


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
        named = {at for name in self.names for at in range(name.start, name.end)}
        return repairs([token for at, token in enumerate(self.tokens) if at not in named])

    def words_at(self, places: Iterable[int]) -> Iterator[str]:
        """The words that stand at places of the chart, light ones left out."""
        for position in sorted(set(places)):
            if not ranker.is_light(self.crossing[position]):
                ends = enumerate(pairwise(self.places))
                start = next(at for at, both in ends if both == (position, position + 1))
                end = start + 1
                is_clause = self.crossing[position] == _CLAUSE
                while is_clause and self.places[end : end + 2] == [position + 1] * 2:
                    end += 1
                yield " ".join(token.text for token in self.tokens[start:end])

    def leaves_at(self, position: int) -> Iterator[Leaf]:
        """What the words at a place of the chart can mean."""
        for leaf in self.leaves:
            if self.places[leaf.start] <= position < self.places[leaf.end]:
                yield leaf

    def means(self, start: int, end: int) -> bool:
        """Whether words that stand for nothing are told by a dimension or a property as well, or
        begin a longer phrase or a name: ``add up``."""
        telling = (leaf for leaf in self.leaves if leaf.category in ("dimension", "property"))
        return any((leaf.start, leaf.end) == (start, end) for leaf in telling) or any(
            leaf.start == start and leaf.end > end for leaf in self.leaves
        )

    @property
    def is_ranked(self) -> bool:
        """Whether it has a superlative."""
        return any(leaf.category in words("superlative") for leaf in self.leaves)

    @property
    def has_groups(self) -> bool:
        """Whether it says what can be counted by: a kind, a dimension, a unit of time."""
        categories = {"kind", "dimension", "grain"} | words("time") - {"f:hour"}
        return any(leaf.category in categories for leaf in self.leaves)

    @property
    def stems(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return tuple(token.stem for token in self.tokens)

    @property
    def length(self) -> int:
        """How many places the chart has."""
        return self.places[-1]


class Reader:
    """Reads questions of one language on a day."""

    def __init__(self, lexicon: Lexicon, periods: Periods, grammar: Grammar) -> None:
        self._lexicon, self._periods, self._grammar = lexicon, periods, grammar

    def read(
        self, question: str, before: Draft | None = None, this: Options | None = None, *,
        refers: bool = False,
    ) -> Read:  # fmt: skip
        """The leaves of a question; ``before``: the records that it goes on from; ``this``: the
        client or project that was named there; ``refers``: so do pronouns."""
        tokens = self._tokens(question)
        if before is not None:
            tokens = [_BEFORE, *tokens[self._lead_in(tokens) :], _BEFORE]
        read_so_far = Read(tokens)
        stems = [token.stem for token in tokens]
        for at in (0, len(tokens) - 1) if before is not None else ():
            read_so_far.leaves.append(Leaf(at, at + 1, "question", before, ("leaf before",)))
        read_so_far.leaves += [*self._entries(tokens, stems), *self._times(tokens)]
        read_so_far.leaves = _without_parts(read_so_far.leaves)
        read_so_far.leaves += self._numbers(tokens, stems)
        known = self._known(read_so_far, stems)
        for at, token in enumerate(tokens):  # codes of currencies that mean nothing else
            if token.text.isupper() and token.text in CURRENCY_CODES and not known[at]:
                leaf = Leaf(at, at + 1, "currency", token.text, ("leaf currency",))
                read_so_far.leaves.append(leaf)
                known[at] = True
        names = Names(self._lexicon)
        written = [replace(token, text=token.repaired_from or token.text) for token in tokens]
        known = [is_known and not token.repaired_from for is_known, token in
                 zip(known, tokens, strict=True)]  # fmt: skip
        for name in names.find(written, stems, known):
            if _is_cut(name, read_so_far.leaves):
                continue
            features = ("leaf value", *(("unsure name",) * min(name.prior, 2)),
                        f"value {name.options.key.partition(':')[0]}",
                        *(("several records",) if name.choices else ()))  # fmt: skip
            read_so_far.leaves.append(Leaf(name.start, name.end, "value", name.options, features))
            read_so_far.names.append(name)
        stands = [] if this is None else list(self._this(read_so_far, this))
        if this is not None and refers:
            stands += self._pronouns(tokens, this)
        for leaf in stands:
            read_so_far.leaves = [
                other for other in read_so_far.leaves
                if not leaf.start <= other.start < leaf.end or other.category == "period"
            ] + [leaf]  # fmt: skip
        read_so_far.leaves += [
            Leaf(leaf.start, leaf.end, "value", names.mine(), ("leaf mine",))
            for leaf in read_so_far.leaves if leaf.category == "f:me"
        ]  # fmt: skip
        self._assign_places(read_so_far)
        return read_so_far

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
                    features = (*leaf.features, *(read.crossing[position] for position in places))
                    places = tuple(
                        position for position in places if read.crossing[position] != "going on"
                    )
                    chart.put(begin, stop, leaf.category, leaf.meaning, features, places)
        return chart.parsed(read.length, "question")

    # --- leaves

    def _this(self, read: Read, named: Options) -> Iterator[Leaf]:
        """What stands for the record that was named before: ``this client``; ``the client`` where
        nothing says more of it."""
        words = self._lexicon.data["language"]["this"]
        for leaf in read.leaves:
            if leaf.category == "kind" and leaf.start and named.key.startswith(leaf.meaning[0]):
                before = read.tokens[leaf.start - 1]
                is_last = leaf.end == len(read.tokens) or read.tokens[leaf.end].apart
                if before.text.lower() in words["words"] or (
                    is_last and before.text.lower() in words["last"]
                ):
                    start = leaf.start - (before.stem not in self._lexicon.fillers)
                    yield Leaf(start, leaf.end, "value", named, ("leaf value", THIS))

    def _pronouns(self, tokens: Sequence[Token], named: Options) -> Iterator[Leaf]:
        """``they``, ``ihnen``; a capital within a sentence is whoever is asked."""
        phrases = (self._lexicon.phrases("language", name) for name in ("pronouns", "persons"))
        words = frozenset[tuple[str, ...]]().union(*phrases)
        for at, token in enumerate(tokens):
            if (token.stem,) in words and not (at and token.is_capital):
                yield Leaf(at, at + 1, "value", named, ("leaf value", THIS))

    def _lead_in(self, tokens: Sequence[Token]) -> int:
        """How many words in front only say that something goes on: ``and what about``."""
        stems, at = [token.stem for token in tokens], 0
        while at < len(stems):
            led = max((n for n in range(1, LONGEST_PHRASE) if tuple(stems[at : at + n])
                       in self._lexicon.follows), default=0)  # fmt: skip
            if not led or led < max((n for n, _ in self._lexicon.at(stems, at)), default=0):
                break
            at += led
        return at if at < len(stems) else 0

    def _tokens(self, question: str) -> list[Token]:
        tokens = tokenise(question)[:MOST_WORDS]
        tokens = [part for token in tokens for part in self._parts(token)][:MOST_WORDS]
        meant = repaired(tokens, self._lexicon.known, self._lexicon.stem)
        return self._listed(self._asked_first(self._rejoined(self._presented(list(meant)))))

    def _listed(self, tokens: list[Token]) -> list[Token]:
        """``open invoices: number, due date``: properties behind a mark are columns, as behind a
        ``with``; where it is told by something, they may be more of that."""
        begins = [at for at, token in enumerate(tokens) if at and token.apart]
        begin = len(tokens)
        while begins and self._names_columns(tokens[begins[-1] : begin]):
            begin = begins.pop()
        items = tokens[begin:]
        is_one = sum(token.apart or self._joins(token) for token in items) < 2
        groups = self._categories(tokens[:begin]) & {"f:by", "f:sort", "grain"}
        is_told = is_one or not self._categories(items) & {"property", "dimension"}
        is_told &= not (items and self._is_with(items[0]))  # "in Berlin, with phone"
        if not items or groups or (is_told and items[0].mark == ","):
            return tokens
        with_word = self._usual_word("shows", items[0])
        columns = (part for token in items for part in (
            (with_word,) if self._joins(token) or self._is_with(token) else
            (with_word, replace(token, apart=False, mark="")) if token.apart else (token,)
        ))  # fmt: skip
        return [*tokens[:begin], *columns]

    def _names_columns(self, tokens: Sequence[Token]) -> bool:
        """Whether words between two marks name properties, and nothing else."""
        columns = {"property", "dimension", "measure", "date", "f:amount"}
        names: list[list[Token]] = [[]]
        for token in tokens:
            if self._joins(token):
                names.append([])
            elif token.stem not in self._lexicon.fillers and not self._is_with(token):
                names[-1].append(token)
        return all(self._categories(name, whole=True) & columns for name in names)

    def _joins(self, token: Token) -> bool:
        return "f:and" in self._categories([token])

    def _is_with(self, token: Token) -> bool:
        return token.apart and "f:with" in self._categories([token])

    def _categories(self, tokens: Sequence[Token], *, whole: bool = False) -> set[str]:
        """What words can be, one by one or as a phrase."""
        stems = [token.stem for token in tokens]
        return self._lexicon.categories([stems] if whole else [[stem] for stem in stems])

    def _presented(self, tokens: list[Token]) -> list[Token]:
        """``send me a short list of``: what is done with a list only says that one is asked for;
        in ``overdue list`` the word before it says of what."""
        lexicon, words = self._lexicon, [(token.stem,) for token in tokens]
        presented, making, to_whom = (
            lexicon.phrases("language", name) for name in ("presented", "making", "to_whom")
        )
        at = next((at for at, word in enumerate(words) if word in presented), 0)
        if not at:
            return tokens
        before = [token.stem for token in tokens[:at] if token.stem not in lexicon.fillers]
        is_after = any(token.stem not in lexicon.fillers for token in tokens[at + 1 :])
        is_sent = not to_whom.isdisjoint(words[at + 1 :])
        # "How do I export invoices" asks for no export.
        is_sent |= words[at] in lexicon.commands and tokens[at - 1].stem not in self._articles
        is_sent |= not (lexicon.commands - making).isdisjoint(words[:at])
        if not is_after or len(before) > 2 or is_sent:
            return tokens
        categories = self._categories(tokens[:at])
        is_told = categories and tokens[at - 1].stem not in lexicon.fillers
        if is_told or categories & _NAMING:
            return tokens
        return [self._usual_word("list", tokens[at]), *tokens[at + 1 :]]

    def _usual_word(self, role: str, token: Token) -> Token:
        """The usual word of a role in place of another."""
        word = self._lexicon.data["words"][role][0]
        return replace(token, text=word, stem=self._lexicon.stem(word), kind="word")

    def _asked_first(self, tokens: list[Token]) -> list[Token]:
        """``clients with overdue invoices, who``: what is asked stands in front, and so does
        ``: welche Kunden``."""
        last = max((at for at, token in enumerate(tokens) if token.apart), default=0)
        if last < 2 or not self._is_asked(tuple(token.stem for token in tokens[last:])):
            return tokens
        front = [replace(token, apart=False, mark="") for token in tokens[last:]]
        return [*front, *tokens[:last]]

    def _is_asked(self, stems: tuple[str, ...]) -> bool:
        """Whether it only says what is asked for, or which records, or by what they are told."""
        of = self._lexicon.categories
        return bool(of([stems]) & words("asked_last")) or any(
            of([stems[at:]]) & _ASKED_OF and "f:list" in of([stems[:at]])
            for at in range(1, len(stems))
        )  # fmt: skip

    def _rejoined(self, tokens: list[Token]) -> list[Token]:
        """``schließen nächste Woche ab``: a verb before its end again, which ends a clause; of
        ``nach Land sortiert`` the end behind its beginning."""
        begun = 0
        for at in range(1, len(tokens)):
            begun = at if tokens[at].apart else begun
            if tokens[at].stem not in self._lexicon.particles:
                continue
            last = at + 1  # without "bitte"
            while last < len(tokens) and tokens[last].stem in self._lexicon.fillers:
                last += 1
            if last < len(tokens) and not tokens[last].apart:
                continue
            for start in range(at - 2, begun - 1, -1):
                verb = (tokens[start].stem, tokens[at].stem)
                entries = self._lexicon.entries.get(verb, ())
                is_command = verb in self._lexicon.commands  # "weise T-000001 Felix zu"
                if is_command or any(entry.category.startswith("f:") for entry in entries):
                    tokens.insert(start + 1, tokens.pop(at))
                elif entries:
                    tokens.insert(at - 1, tokens.pop(start))
                if entries or is_command:
                    break
        return tokens

    def _parts(self, token: Token) -> list[Token]:
        """A word by its stem, a compound as its parts; a capital letter says nothing."""
        if token.kind != "word":
            return [replace(token, number=self._number(token))]
        parts = self._lexicon.parts(token.text)
        begin, _, end = token.text.partition("-")
        if self._periods.is_month(begin) and self._periods.is_month(end):  # "jan-mar"
            parts = (begin, "\u2013", end)
        if self._lexicon.code == "en" and len(parts) == 1:
            return [token]
        whole = token.text if len(parts) > 1 else ""
        return [replace(token, text=part, stem=self._lexicon.form(part), first=True,
                        apart=token.apart and not at, whole="" if at else whole)
                for at, part in enumerate(parts)]  # fmt: skip

    def _number(self, token: Token) -> Decimal | None:
        """A number as the language writes it: ``10.000`` is ten thousand where dots part them."""
        mark = self._lexicon.data["language"].get("thousands", "")
        parts = token.text.split(mark) if mark else []
        grouped = len(parts) > 1 and all(len(part) == 3 for part in parts[1:])
        if token.number is None or not grouped or not all(part.isdecimal() for part in parts):
            return token.number
        return Decimal("".join(parts))

    def _entries(self, tokens: Sequence[Token], stems: Sequence[str]) -> Iterator[Leaf]:
        for at, end, length, entry in self._phrases(stems):
            if any(token.apart and token.mark != "(" for token in tokens[at + 1 : end]):
                continue
            category, value = entry.category, entry.value
            features = (f"leaf {category}", *(("longer phrase",) * (length - 1)))
            if category in ("state", "measure", "date", "property", "verb"):
                features = (*features, f"word {category} {stems[at]}")
            elif category in words("joining"):
                features = (*features, f"word {category} {' '.join(stems[at:end])}")
            if category in ("kind", "named", "dimension"):
                is_one = self._is_of_one(category, tokens, at, end)
                value = (value, is_one) if category != "dimension" else (
                    replace(value, are_several=not is_one)
                )  # fmt: skip
            yield Leaf(at, end, category, value, features)

    def _is_of_one(self, category: str, tokens: Sequence[Token], at: int, end: int) -> bool:
        """Whether a noun says that one is meant, by its form or an article before it: ``des größten
        offenen Deals``; of those that are the same in the plural the article alone does."""
        language = self._lexicon.data["language"]
        # Of a misspelt word its ending counts.
        phrase = " ".join(corrected(token) if self._lexicon.stem(token.text) == token.text.lower()
                          else token.text for token in tokens[at:end]).lower()  # fmt: skip
        before = {token.text.lower() for token in tokens[max(at - _MOST_BETWEEN, 0) : at]}
        alike, weak = language.get("alike", {}), language.get("weak", {})
        if alike and phrase.endswith(tuple(alike["endings"])):
            is_one = at > 0 and tokens[at - 1].text.lower() in alike["one"]
            is_one |= category == "dimension" and before.isdisjoint(alike["several"])
        else:
            is_one = phrase == " ".join(token.stem for token in tokens[at:end])
            is_one |= category != "named" and phrase in self._lexicon.singular
        articles = {*language.get("of_one", ())}
        articles.update(weak["articles"] if phrase in weak.get("nouns", ()) else ())
        return is_one or not articles.isdisjoint(before)

    def _phrases(self, stems: Sequence[str]) -> Iterator[tuple[int, int, int, Entry]]:
        """Entries where their words stand: from, to, how many words are theirs.

        Fillers may stand between them (``amount still due``), and the last words of two may be said
        once (``net and gross revenue``).
        """
        lexicon = self._lexicon
        for at in range(len(stems)):
            for length, entry in lexicon.at(stems, at):
                yield at, at + length, length, entry
            places = [position for position in range(at, min(at + _WIDEST_PHRASE, len(stems)))
                      if position == at or stems[position] not in lexicon.fillers]  # fmt: skip
            for length, entry in lexicon.at([stems[position] for position in places], 0):
                end = places[length - 1] + 1
                is_aside = entry.category == "f:aside"
                if end > at + length and (is_aside or not entry.category.startswith("f:")):
                    yield at, end, length, entry
            if at + 2 < len(stems) and "f:and" in lexicon.categories([stems[at + 1 : at + 2]]):
                for length, entry in lexicon.at(stems, at + 2):
                    whole = (stems[at], *stems[at + 3 : at + 2 + length])
                    for other in lexicon.entries.get(whole, ()) if length > 1 else ():
                        if other.category == entry.category == "measure":
                            yield at, at + 1, 1, other

    def _times(self, tokens: Sequence[Token]) -> Iterator[Leaf]:
        ends: dict[int, int] = {}
        periods = list(self._periods.find(tokens))
        # "last month (2026-05-01 to 2026-05-31)", as answers tell them, is one.
        ends_before = {time.end for time in periods}
        days = {time.start: time.end for time in reversed(periods)
                if tokens[time.start].mark == "(" and time.start in ends_before}  # fmt: skip
        again = {at for start, end in days.items() for at in range(start, end)}
        for time in (time for time in periods if time.start not in again):
            end = days.get(time.end, time.end)
            features = ("leaf period", *(("longer phrase",) * (end - time.start - 1)))
            ends[time.start] = max(end, ends.get(time.start, 0))
            yield Leaf(time.start, end, "period", time.when, features)
        for start, end, grain in self._periods.grains(tokens):
            if end >= ends.get(start, 0):  # "a month ago" is not by month
                yield Leaf(start, end, "grain", grain, ("leaf grain",))

    def _numbers(self, tokens: Sequence[Token], stems: Sequence[str]) -> Iterator[Leaf]:
        for at, token in enumerate(tokens):
            between = [token.number for token in tokens[at : at + 3 : 2]]
            texts = [f"{number.normalize():f}" for number in between if number]
            is_short = len(texts) == 2 and max(map(len, texts)) <= _MOST_DIGITS
            if is_short and self._is_range(stems[at + 1 : at + 2]):
                low, high = map(Number, texts)
                yield Leaf(at, at + 3, "bound", Bound("ge", low, high), ("leaf number",))
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
            elif token.stem in self._articles and self._is_one(stems, at):
                yield Leaf(at, at + 1, "number", Number("1"), ("leaf article",))

    def _is_range(self, joint: Sequence[str]) -> bool:
        """Whether what stands between two numbers says that it is from one to the other."""
        is_listed = self._lexicon.categories([joint]) & {"f:and", "f:or"}
        words = tuple(self._lexicon.english.get(stem, stem) for stem in joint)
        return not is_listed and words in self._lexicon.reader.phrases["to"]

    def _is_one(self, stems: Sequence[str], at: int) -> bool:
        """Whether an article counts: a unit of time stands behind it, or a bound before it."""
        before = [stems[max(at - length, 0) : at] for length in (1, 2)]
        next_categories = {entry.category for _, entry in self._lexicon.at(stems, at + 1)}
        counting = words("time", "bound") | {"f:or"}
        return not counting.isdisjoint(self._lexicon.categories(before) | next_categories)

    @property
    def _articles(self) -> frozenset[str]:
        return frozenset(self._lexicon.data["language"]["articles"])

    def _known(self, read: Read, stems: Sequence[str]) -> list[bool]:
        """Of each word whether it means something; one that was repaired may be a name as it is."""
        known = [stem in self._lexicon.fillers for stem in stems]
        for leaf in read.leaves:
            for at in range(leaf.start, leaf.end):
                known[at] = read.tokens[at].repaired_from is None
        return known

    # --- places

    def _assign_places(self, read: Read) -> None:
        """Words that are passed over for nothing have no place; each other has a price."""
        begun = {leaf.start for leaf in read.leaves}
        covered: dict[int, set[str]] = {}
        several = set()  # places of numbers: ", only five" asks for fewer
        times = {leaf.start for leaf in read.leaves
                 if leaf.category == "period" and leaf.end == leaf.start + 1}  # fmt: skip
        for leaf in read.leaves:
            for at in range(leaf.start, leaf.end):
                covered.setdefault(at, set()).add(leaf.category)
            is_bound = not covered.get(leaf.start - 1, set()).isdisjoint(words("bound"))
            if leaf.category == "number" and (leaf.meaning.text != "1" or is_bound):
                several.add(leaf.start)
        remarks = {*self._remarks(read.tokens, covered)}
        read.leaves = [leaf for leaf in read.leaves if leaf.start not in remarks]
        asides = remarks.union(_asides(read.tokens, covered, several))
        asides.update(at for leaf in read.leaves if leaf.category == "f:aside"
                      for at in range(leaf.start, leaf.end))  # fmt: skip
        for at, token in enumerate(read.tokens):
            read.places.append(len(read.crossing))
            is_filler = token.stem in self._lexicon.fillers and at not in times  # the month of May
            if token is _BEFORE:
                read.crossing.append("going on")
            elif at in asides:
                read.crossing += [_CLAUSE] * (at - 1 not in asides or token.apart)
            elif not is_filler or at in begun:
                crossing = ranker.FILLER if is_filler else _crossing(token, covered.get(at, set()))
                read.crossing.append(crossing)
        read.places.append(len(read.crossing))

    def _remarks(self, tokens: Sequence[Token], covered: Mapping[int, set[str]]) -> Iterator[int]:
        """The words of what is said beside a list that is asked for, with a word that is unknown:
        a clause (``, planning a trip``), and at the end what it is for (``for the case study``)."""
        purposes = self._lexicon.phrases("language", "purposes", "for")
        stems = tuple(token.stem for token in tokens)
        clauses = [(start, end, _REMARK) for start, end in _clauses(tokens)]
        last = max((start for start, _, _ in clauses), default=0)
        clauses += [(at, len(tokens), _PURPOSE) for at in range(max(last, 1), len(tokens))
                    if stems[at : at + 2] in purposes]  # fmt: skip
        restricting = words("figure", "superlative", "dated", "denying", "restricting")
        for start, end, allowed in clauses:
            others = (*range(start), *range(end, len(tokens)))
            inside, outside = (set().union(*(covered.get(at, set()) for at in places))
                               for places in (range(start, end), others))  # fmt: skip
            strange = [
                not covered.get(at)
                and tokens[at].kind == "word"
                and not (tokens[at].is_capital and self._lexicon.code == "en")
                and stems[at] not in self._lexicon.fillers
                for at in range(start, end)
            ]
            is_strange = strange[-1] if allowed == _PURPOSE else any(strange)
            is_list = outside & {"kind", "named"} and not outside & {*words("figure"), "measure"}
            roles = {category for category in inside if category.startswith("f:")}
            if is_strange and is_list and inside - roles <= allowed and not roles & restricting:
                yield from range(start, end)


def _is_cut(part: Leaf | Name, leaves: Sequence[Leaf]) -> bool:
    """Whether it would cut a currency in two: ``in Danish`` of ``in Danish kroner``."""
    return any(leaf.category == "currency" and {part.start, part.end}
               & {*range(leaf.start + 1, leaf.end)} for leaf in leaves)  # fmt: skip


def _without_parts(leaves: list[Leaf]) -> list[Leaf]:
    """Without what words mean that are a part of a longer phrase: ``biggest first`` has no biggest,
    ``in Danish kroner`` nothing Danish."""
    leaves = [
        leaf for leaf in leaves if leaf.category.startswith("f:") or not _is_cut(leaf, leaves)
    ]
    compares = any(leaf.category in ("f:compare", "f:change") for leaf in leaves)
    bounded = {leaf.end for leaf in leaves if leaf.category in words("bound")}
    money = {leaf.start for leaf in leaves if leaf.category == "currency"}
    orders, wholes_of = words("ordering"), roles_data()["wholes"]
    long = {"period", "f:by", *orders, *chain.from_iterable(wholes_of.values())}
    wholes = [leaf for leaf in leaves if leaf.category in long]

    def is_part(leaf: Leaf, whole: Leaf) -> bool:
        length = whole.end - whole.start
        is_inside = whole.start <= leaf.start and leaf.end <= whole.end
        if not is_inside or leaf.end - leaf.start == length:
            return False
        match leaf.category:
            case "f:versus" if whole.category == "period":
                return not compares  # "compare May to June" has two
            case "f:by":
                return whole.category in orders
            case category if category in words("time") and whole.category == "period":
                return length == 2 and leaf.end == whole.end  # "this year" is not by year
        is_by = whole.category == "f:by" and length > 2
        return is_by or whole.category in (*orders, *wholes_of.get(leaf.category, ()))

    listed = {*_listing(leaves)}
    return [
        leaf for leaf in leaves
        if not (leaf.category == "f:versus" and leaf.start in listed)
        and not any(is_part(leaf, whole) for whole in wholes)
        # "over 2000 euros" is no year
        and not (leaf.category == "period" and leaf.end in money and leaf.end - 1 in bounded)
    ]  # fmt: skip


def _clauses(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where each begins and ends, by the marks that set words apart."""
    starts = [at for at, token in enumerate(tokens) if token.apart or not at]
    return pairwise((*starts, len(tokens)))


def _listing(leaves: Sequence[Leaf]) -> Iterator[int]:
    """Where words join three periods or more, none of which is set against the others: ``April, May
    and June``."""
    joints = {leaf.start: leaf.end for leaf in leaves if leaf.category == "f:and"}
    periods = {leaf.start: leaf.end for leaf in leaves if leaf.category == "period"}
    for end in periods.values():
        listed, between = 1, []
        while (begin := joints.get(end, end)) in periods:
            between += [end] * (end in joints)
            listed, end = listed + 1, periods[begin]
        if listed > 2:
            yield from between


def _asides(
    tokens: Sequence[Token], covered: Mapping[int, set[str]], several: Container[int]
) -> Iterator[int]:
    """The words of whole clauses that say nothing of records: ``sorry to bother you again:``."""
    for start, end in _clauses(tokens):
        categories_at = [covered.get(at, set()) for at in range(start, end)]
        own_categories = {category for category in set().union(*categories_at)
                if not category.startswith("f:")}  # fmt: skip
        is_named = any(tokens[at].is_capital or tokens[at].kind != "word" or at in several
                       for at in range(start, end))  # fmt: skip
        is_empty = own_categories <= {"number", "grain"} and not is_named and not all(categories_at)
        # "And what is the average?" asks for more, ", the best five" for fewer.
        asking = words("figure", "superlative", "dated") if start else words("method")
        is_empty &= not any(
            categories & (asking | words("denying")) for categories in categories_at
        )
        if is_empty and 1 < end - start < len(tokens):
            yield from range(start, end)


def _crossing(token: Token, categories: set[str]) -> str:
    """The feature of a word that nothing is made of, by what it could have been."""
    roles = {category for category in categories if category.startswith("f:")}
    role = " ".join(sorted(role.removeprefix("f:") for role in roles))
    if not categories:
        return "cross name" if token.is_capital else "cross unknown"
    if categories <= roles | {"grain"}:
        return f"cross word {role}"
    if categories & {"period", "number", "value"}:
        return f"cross {sorted(categories & {'period', 'number', 'value'})[0]}"
    return f"cross content {'/'.join(sorted(categories - roles))} {role}".rstrip()
