"""The words of a language, read from its file and from the entity data model: phrase -> entries.

An entry has a category (what kind of meaning it is, as the rules name it) and what it means for
each kind of record that it can be said of.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import babel
from babel.numbers import get_currency_name
from iso4217 import Currency

from app.bi.periods.reader import PeriodReader
from app.bi.plans.entities import spoken
from app.bi.questions.algebra import Figure, Is
from app.bi.questions.model import Kind, Model, model_data
from app.bi.questions.roles import roles_data
from app.bi.words.speech import ENGLISH_CODE, Speech, plural
from app.bi.words.spelling import spellings
from app.bi.words.tokens import stem, tokenise
from app.container.model import container
from app.localisation.data_files import data_beside
from app.odata.model import edm

Phrase = tuple[str, ...]
LANGUAGES = ("en", "de")
LONGEST_PHRASE = 5
_SHORTEST_STEM = 4
_SHORTEST_PART = 3
_USUAL = 30  # meanings
CURRENCY_CODES = frozenset(currency.code for currency in Currency)
_DONE = frozenset(("state", "date", "verb", "pending", "measure", "property"))
_WITHOUT_UMLAUT = str.maketrans("äöü", "aou")
# What the names of the model are in a meaning, where a category says one thing alone.
_MEANINGS: Mapping[str, Callable[[str], Any]] = {
    "state": Is, "pending": Is, "named": Is, "rate": partial(Figure, is_rate=True),
}  # fmt: skip
_NO_COUNTRIES = frozenset(("EU", "EZ", "UN", "QO", "XA", "XB", "ZZ"))


@dataclass(frozen=True, eq=False)
class Options:
    """What words mean for each kind of record; compared by ``key``, which says the same."""

    key: str
    by_kind: Mapping[str, Any] = field(hash=False)
    are_several: bool = False  # said in the plural

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Entry(NamedTuple):
    """A meaning of a phrase."""

    category: str
    value: Any


class Lexicon:
    """All phrases of one language."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.data = _file(code)
        self._suffixes: Sequence[str] = self.data["language"].get("suffixes", ())
        self._whole = frozenset(self.data["language"].get("whole", ()))
        self._short = frozenset(self.data["language"].get("short", ()))
        self._joints: Sequence[str] = self.data["language"].get("joints", ())
        self._shared = self.data.get("shared", {})
        self.fillers = frozenset(self.phrase(text)[0] for text in self.data["language"]["fillers"])
        language = self.data["language"]
        self.particles = frozenset(map(self.stem, language.get("particles", ())))
        english = _file(ENGLISH_CODE)
        nouns = {key: (phrases["nouns"][0], plural(phrases["nouns"][0]))
                 for key, phrases in english.items() if "nouns" in phrases}  # fmt: skip
        labels = {key: phrases.get("hits", {}) | {
            name: words[0] for name, words in phrases.get("dimensions", {}).items() if words
        } for key, phrases in english.items()}  # fmt: skip
        self.say = Speech(code, self.data)
        self.model = Model(nouns, labels, self.say)
        self._lists: dict[tuple[str, ...], frozenset[Phrase]] = {}
        self._found: dict[Phrase, dict[tuple[str, str], Any]] = defaultdict(dict)
        self._first: dict[tuple[str, str, Any], str] = {}
        self.entries: dict[Phrase, list[Entry]] = defaultdict(list)
        self._of_words()
        for key, kind in self.model.kinds.items():
            self._of_kind(kind, self.data.get(key, {}))
        self._gather()
        self.beyond, self.commands, self.vague, self.follows = (
            self.phrases("language", name) for name in ("beyond", "commands", "vague", "follows")
        )

    # --- words

    def stem(self, word: str) -> str:
        """A word as it is compared, without its endings."""
        if not self._suffixes:
            return stem(word)
        word = word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")
        while word not in self._whole:
            ends = (suffix for suffix in self._suffixes if word.endswith(suffix))
            stems = (word.removesuffix(suffix) for suffix in ends)
            shorter = next((stem for stem in stems if len(stem) >= _SHORTEST_STEM
                            or stem in self._short), "")  # fmt: skip
            if not shorter:
                break
            word = shorter
        return word

    def form(self, word: str) -> str:
        """The stem of a word; of one that is unknown that without umlauts, of a plural with one, or
        with those that are written out (``faellig``, ``grösste``)."""
        stem = self.stem(word)
        if stem in self.known:
            return stem
        umlauts = list(spellings(word))[-1]
        others = map(self.stem, (umlauts, umlauts.replace("ss", "ß"), word.replace("ß", "ss")))
        forms = (stem.translate(_WITHOUT_UMLAUT), *(others if self._joints else ()))
        done = (form for form in self._participles(word.lower()) for entry in
                self.entries.get((form,), ()) if entry.category in _DONE)  # fmt: skip
        return next((form for form in (*done, *forms) if form in self.known), stem)

    def _participles(self, word: str) -> Iterator[str]:
        """What a regular verb is called when it is done: ``löst``, ``lösten`` for ``gelöst``,
        ``zuordnen`` for ``zugeordnet``."""
        verbs = self.data["language"].get("verbs", {})
        for ending in verbs.get("endings", ()):
            root = word.removesuffix(ending)
            for prefix in ("", *self.particles):
                rest = root.removeprefix(prefix)
                if root == word or len(rest) < _SHORTEST_PART or (prefix and rest == root):
                    continue
                for begin, end in product(("", verbs["begin"]), verbs["end"]):
                    yield f"{prefix}{begin}{rest}{end}"

    def parts(self, word: str) -> tuple[str, ...]:
        """A word, or the words that a compound or a contraction is made of where it is not known
        itself; of what is only spoken (``gibts``, ``ham``) those that are written."""
        written = word.lower().replace("\u2019", "'")
        if spoken_words := self.data["language"].get("spoken", {}).get(written):
            return tuple(spoken_words.split())
        if self.form(word) in self.known:
            return (word,)
        for ending, whole in self.data["language"].get("contractions", {}).items():
            rest = written.removesuffix(ending)
            if rest != written and rest in self.known:
                return (rest, *whole.split())
        if not self._joints:  # "creditnotes": together they are one phrase
            cuts = ((word[:cut], word[cut:]) for cut in range(_SHORTEST_PART, len(word) - 2))
            phrases = (two for two in cuts if tuple(map(self.stem, two)) in self.entries)
            return next(phrases, (word,))
        pieces = word.split("-")
        if self.form("".join(pieces)) in self.known:
            return ("".join(pieces),)  # "Rechnungs-Mail"
        if any(piece.isdecimal() for piece in pieces):
            return (word,)  # "T-000012"
        if len(pieces) > 1:
            return tuple(part for piece in pieces if piece for part in self.parts(piece))
        for prefix, negation in self.data["language"].get("prefixes", {}).items():
            rest = word.lower().removeprefix(prefix)
            if rest != word.lower() and self._is_part(rest):
                return (negation, rest)
        two = next(self._cut(word, lambda rest: (rest,)), None)
        return two or next(self._cut(word, self.parts), (word,))

    def _cut(
        self, word: str, parts_of: Callable[[str], tuple[str, ...]]
    ) -> Iterator[tuple[str, ...]]:
        """The parts of a compound, where all of them are known."""
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            first, rest = word[:cut], word[cut:]
            heads = (first.removesuffix(joint) for joint in self._joints if first.endswith(joint))
            head = next((head for head in heads if self._is_part(head)), None)
            if head is None or not all(map(self._is_part, parts := parts_of(rest))):
                continue
            yield head, *parts

    def is_known(self, word: str) -> bool:
        """Whether a word means something, or all parts of it do, and no name has it."""
        forms = [self.form(part) for part in self.parts(word)]
        return all(form in self.known and form not in self.named for form in forms)

    def _is_part(self, word: str) -> bool:
        return len(word) >= _SHORTEST_PART and self.form(word) in self.known

    @cached_property
    def english(self) -> Mapping[str, str]:
        """Stems of words of periods -> the English words that periods are kept in."""
        english_words: dict[str, str] = {}
        for english, texts in self.data.get("english", {}).items():
            for text in texts:
                english_words.setdefault(self.stem(text), english)
        own, english_locale = babel.Locale(self.code), babel.Locale(ENGLISH_CODE)
        named = [("days", "format", "wide"), *product(
            ("months",), ("format", "stand-alone"), ("wide", "abbreviated")
        )]  # fmt: skip
        for unit, context, width in named if self.code != ENGLISH_CODE else ():
            for at, text in getattr(own, unit)[context][width].items():
                name = str(getattr(english_locale, unit)["format"]["wide"][at])
                english_words.setdefault(self.stem(str(text).rstrip(".")), name)
        return english_words

    def phrase(self, text: str) -> Phrase:
        """The stems of a phrase; each word is kept once, in however many phrases it stands."""
        return tuple(sys.intern(self.stem(token.text)) for token in tokenise(text))

    def phrases(self, *section: str) -> frozenset[Phrase]:
        """The phrases of a list of the file."""
        if section not in self._lists:
            texts: Any = self.data
            for name in section:
                texts = texts[name]
            self._lists[section] = frozenset(self.phrase(text) for text in texts)
        return self._lists[section]

    def first(self, category: str, kind: str, value: str, otherwise: str = "") -> str:
        """What a meaning is called first; ``otherwise`` where the file has no words for it."""
        return self._first.get((category, kind, value)) or otherwise or spoken(value)

    @cached_property
    def singular(self) -> frozenset[str]:
        """What one record, or one of a dimension, is called, as it is written."""
        kinds = [kind for kind in self.data.values() if isinstance(kind, dict)]
        nouns = [noun for kind in kinds for noun in kind.get("nouns", ())]
        nouns += (text for kind in kinds for texts in kind.get("dimensions", {}).values()
                  for text in self._words_of(texts))  # fmt: skip
        labels = self.data.get("labels", {}).items()
        nouns += (
            text for english, text in labels if not english.endswith("s") or english.endswith("us")
        )
        return frozenset(noun.lower() for noun in nouns)

    @cached_property
    def known(self) -> Mapping[str, float]:
        """Every single word that means something, and how usual it is.

        That is told by how much it means, and of how many kinds of record; nouns, periods and
        fillers are as usual as words that mean much.
        """
        words: Counter[str] = Counter()
        for phrase, entries in self.entries.items():
            kinds = sum(len(getattr(entry.value, "by_kind", "1")) for entry in entries)
            is_noun = any(entry.category == "kind" for entry in entries)
            words.update(dict.fromkeys(phrase, kinds + _USUAL * is_noun))
        values = (text for texts in self.data.get("values", {}).values() for text in texts)
        words.update(word for text in values for word in self.phrase(text))
        for phrases in (self.beyond, self.commands, self.follows, self.vague):
            words.update(word for phrase in phrases for word in phrase)
        words.update(self.reader.words if "periods" in self.data else ())
        words.update(dict.fromkeys({*self.fillers, *self.english}, _USUAL))
        return {word: math.sqrt(count) for word, count in words.items()}

    @cached_property
    def named(self) -> frozenset[str]:
        """Words that are but a part of what values are called: a name may have them, too."""
        words = {word for phrase in self.entries for word in phrase}
        values = (text for texts in self.data.get("values", {}).values() for text in texts)
        return frozenset(word for text in values for word in self.phrase(text)) - words

    @cached_property
    def reader(self) -> PeriodReader:
        """What reads periods, in the words that they are kept in."""
        data = self.data if "periods" in self.data else _file("en")
        return PeriodReader(data["periods"], data["months"]["names"], data["feasts"])

    @cached_property
    def places(self) -> Mapping[Any, tuple[str, str]]:
        """Countries and groups of them by their words: codes with commas between, and a label."""
        places_of: dict[Any, tuple[str, str]] = {}
        for code, name in babel.Locale(self.code).territories.items():
            if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES:
                places_of[str(name).lower()] = (code, str(name))
                places_of[f"code {code}"] = (code, str(name))
        names = dict(places_of.values())
        for code, texts in self.data["countries"].items():
            for text in texts:
                places_of[self.phrase(text)] = (code, names[code])
        regions = self.data["regions"]
        for name, texts in regions["names"].items():
            codes = ",".join(regions["members"][name])
            for text in texts:
                for suffix in ("", *regions["suffixes"]):
                    places_of[self.phrase(f"{text} {suffix}")] = (codes, name)
        return places_of

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """First word -> how many words the longest phrase has that begins with it."""
        lengths: dict[str, int] = {}
        for phrase in filter(None, self.entries):
            lengths[phrase[0]] = max(lengths.get(phrase[0], 0), len(phrase))
        return lengths

    def at(self, stems: Sequence[str], at: int) -> Iterator[tuple[int, Entry]]:
        """The entries whose phrase begins at a place, with how many words each takes."""
        longest = self.longest.get(stems[at], 0) if at < len(stems) else 0
        for length in range(min(longest, len(stems) - at), 0, -1):
            for entry in self.entries.get(tuple(stems[at : at + length]), ()):
                yield length, entry

    def categories(self, phrases: Iterable[Sequence[str]]) -> set[str]:
        """What any of some phrases can be, each as a whole."""
        return {entry.category for phrase in phrases
                for entry in self.entries.get(tuple(phrase), ())}  # fmt: skip

    # --- entries of the file

    def _of_words(self) -> None:
        read_as = roles_data()["read_as"]
        for role, texts in self.data["words"].items():
            for text in texts:
                entry = Entry(f"f:{read_as.get(role, role)}", role)
                self.entries[self.phrase(text)].append(entry)
        purposes = self.data["language"]["purposes"]
        for begin, word in product(purposes["for"], purposes["words"]):
            self.entries[self.phrase(f"{begin} {word}")].append(Entry("f:aside", "aside"))
        for text in self.data["language"]["percentiles"]:
            for percent in range(1, 100):
                entry = Entry("f:median", f"percentile{percent}")
                self.entries[self.phrase(text.format(n=percent))].append(entry)
        for code, texts in self._currencies():
            for phrase in dict.fromkeys(map(self.phrase, texts)):
                self.entries[phrase].append(Entry("currency", code))

    def _currencies(self) -> Iterator[tuple[str, list[str]]]:
        """What each currency is called: as the file has it, and by its name in the language."""
        for currency in Currency:
            code, short = currency.code, self.data["currencies"].get(currency.code, [])
            names = (get_currency_name(code, count, self.code) for count in (1, 2))
            yield code, [*short, *(name for name in names if name != code and " " in name)]

    def _add(self, text: str, category: str, kind: str, value: Any) -> None:
        phrase = self.phrase(text)
        if phrase:
            self._found[phrase].setdefault((category, kind), value)
            self._first.setdefault((category, kind, value), text)
        # Nor need its own fillers be said: "close date is in the past", "close date already past".
        bare = (*phrase[:1], *(word for word in phrase[1:] if word not in self.fillers))
        if 1 < len(bare) < len(phrase):
            self._found[bare].setdefault((category, kind), value)

    def _gather(self) -> None:
        for phrase, entries in self._found.items():
            by_category: dict[str, dict[str, Any]] = defaultdict(dict)
            for (category, kind), value in entries.items():
                by_category[category][kind] = _MEANINGS.get(category, str)(value)
            for category, by_kind in by_category.items():
                if category == "kind":
                    for kind in by_kind:
                        self.entries[phrase].append(Entry("kind", kind))
                    continue
                options = Options(f"{category}:{' '.join(phrase)}", by_kind)
                self.entries[phrase].append(Entry(category, options))
        self._found.clear()  # the entries have it now

    def _words_of(self, texts: Iterable[str]) -> Iterator[str]:
        """The phrases of a list; ``@people`` stands for a shared list."""
        for text in texts:
            if text.startswith("@"):
                yield from self._shared[text[1:]]
            else:
                yield text

    def _of_kind(self, kind: Kind, entry: Mapping[str, Any]) -> None:
        key = kind.key
        for text in entry.get("nouns", (kind.one,)):
            self._add(text, "kind", key, key)
        sections = (
            ("measures", "measure", kind.figures), ("rates", "rate", kind.rates),
            ("states", "state", kind.states), ("dates", "date", None),
            ("dimensions", "dimension", kind.dimensions), ("properties", "property", None),
            ("verbs", "verb", None), ("moments", "moment", None), ("pending", "pending", None),
            ("members", "state", None), ("orders", "order", None), ("ranks", "best", None),
            ("kinds", "named", None),
        )  # fmt: skip
        for section, category, known in sections:
            # Of another language, dates are what durations begin and end with.
            is_dates = section == "moments" and self.code != ENGLISH_CODE
            for name, texts in entry.get("dates" if is_dates else section, {}).items():
                if known is not None and name not in known:
                    raise KeyError(f"{self.code}.toml: {key} have no {name} among {section}")
                is_member = section in ("members", "kinds")
                value = self._member(kind, name) if is_member else name
                for text in self._words_of(texts):
                    self._add(text, category, key, f"to.{name}" if section == "pending" else value)
        self._of_model(kind)

    def _member(self, kind: Kind, member: str) -> str:
        for name in kind.states:
            if name == member or name.rpartition(".")[2] == member:
                return name
        raise KeyError(f"{self.code}.toml: {kind.key} have no {member}")

    # --- entries of the entity data model

    def _of_model(self, kind: Kind) -> None:
        """What the names themselves say: enumerations, properties, dimensions."""
        members = self.data.get("members", {})
        for name in kind.states:
            path, _, member = name.rpartition(".")
            if path and path != "to":
                for text in (*members.get(member, ()), *self._called(member)):
                    self._add(text, "state", kind.key, name)
        for name in kind.dimensions:
            for text in self._called(name):
                self._add(text, "dimension", kind.key, name)
        for name, prop in kind.own_properties():
            if not isinstance(prop.type, edm.PrimitiveType) or prop.on_request or name == "id":
                continue
            category = "state" if prop.type.name == "Edm.Boolean" else "property"
            for text in self._called(name.removeprefix("is")):
                self._add(text, category, kind.key, name)

    def _called(self, name: str) -> Iterator[str]:
        """What a name of the model says by itself, or by its label in another language."""
        if self.code == ENGLISH_CODE:
            yield spoken(name)
            yield spoken(name).replace(" and ", " & ")
            if name.endswith("Count"):  # "more than one reopen"
                yield spoken(name.removesuffix("Count"))
            return
        if label := self.data.get("labels", {}).get(spoken(name).lower()):
            yield label
        if name[:1].isupper():  # members are called by their names, too: "rating Hot"
            yield spoken(name)


def places(stems: Phrase, phrases: Container[Phrase]) -> Iterator[tuple[int, int]]:
    """From which word to which each of some phrases stands, the longest first."""
    for start in range(len(stems)):
        for end in range(min(start + LONGEST_PHRASE, len(stems)), start, -1):
            if stems[start:end] in phrases:
                yield start, end


def first_place(stems: Phrase, phrases: Container[Phrase]) -> tuple[int, int] | None:
    """Where the first of them stands."""
    return next(places(stems, phrases), None)


def begins(stems: Phrase, phrases: Container[Phrase]) -> bool:
    """Whether a question begins with one of them."""
    return any(start == 0 for start, _ in places(stems[:LONGEST_PHRASE], phrases))


def nouns_in(code: str) -> dict[str, str]:
    """What records are called -> their type; parts that are no records of their own have none."""
    types: dict[str, str] = {}
    for key, data in model_data().items() if code in LANGUAGES else ():
        type_ = container().sets[data["set"]].type
        part = str(data.get("join", "")).partition(" ")[0]
        target = type_.navigation[part].target if part in type_.navigation else ""
        if name := target if part else type_.name:
            types |= {noun.lower(): name for noun in _file(code).get(key, {}).get("nouns", ())}
    return types


@lru_cache(maxsize=4)
def _file(code: str) -> Mapping[str, Any]:
    return data_beside(__file__, f"lexicons/{code}.toml")
