"""The vocabulary: phrases of a language and what each can mean, read from a file and the model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.bi.nlq.histories import histories
from app.bi.nlq.pending import pending_states, pending_verbs
from app.bi.nlq.rates import rates_of
from app.bi.nlq.typed import Typed
from app.bi.nlq.wordings import Wordings, idioms_of
from app.bi.periods.reader import PeriodReader
from app.bi.plans import entities
from app.bi.plans.entities import members_of, spoken
from app.bi.words.tokens import Token, phrase
from app.odata.model import edm

_NO_STATES = (
    "relatedType",
    "entityType",
    "eInvoiceFormat",
    "bodyFormat",
    "previousStage",
    "taxCategory",
    "unitCode",
)
Phrase = tuple[str, ...]
# Words that are looked up one by one, and are no phrases of a question.
_SINGLE = ("yes_no", "introduces", "pronouns", "possessives", "percent", "tagging", "talk",
           "qualities", "reasons", "beyond", "things", "about", "about_title", "about_text",
           "polite")  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """``kind`` says what ``value`` is: noun, state, date, dimension, property, measure ..."""

    kind: str
    value: Any
    words: str


class Entity(entities.Entity):
    """One kind of record as people speak of it."""

    def __init__(self, key: str, data: Mapping[str, Any], container: edm.EntityContainer) -> None:
        super().__init__(key, data, container)
        self.texts: Mapping[str, str] = data.get("texts", {})
        self.partly: tuple[str, ...] = tuple(data.get("partly", ()))
        self._state_dates: Mapping[str, str] = data.get("state_dates", {})
        self._state_amounts: Mapping[str, str] = data.get("state_amounts", {})

    @cached_property
    def nouns(self) -> frozenset[str]:
        """What one record is called."""
        return frozenset(self.data["nouns"])

    @cached_property
    def doubts(self) -> Mapping[str, tuple[str, str]]:
        """Word -> how it is taken, and the question to ask where it was meant otherwise."""
        return {word: (note, other) for word, (note, other) in self.data.get("doubts", {}).items()}

    @cached_property
    def lexicon(self) -> Mapping[Phrase, list[Meaning]]:
        """Phrase -> what it can mean for this entity, the likeliest first."""
        found: dict[Phrase, list[Meaning]] = defaultdict(list)
        for words, meaning in self._meanings():
            stems = phrase(words)
            if stems and all(known.kind != meaning.kind for known in found[stems]):
                found[stems].append(meaning)
        return dict(found)

    def tells(self, stems: Collection[str], kinds: Collection[str]) -> bool:
        """Whether all words of a phrase of one of these kinds are among some words."""
        return any(
            all(word in stems for word in words)
            and any(one.kind in kinds for one in self.lexicon[words])
            for stem in stems
            for words in self._beginning.get(stem, ())
        )

    @cached_property
    def _beginning(self) -> Mapping[str, list[Phrase]]:
        """First word -> the phrases that begin with it."""
        found: dict[str, list[Phrase]] = defaultdict(list)
        for words in self.lexicon:
            found[words[0]].append(words)
        return dict(found)

    def _meanings(self) -> Iterator[tuple[str, Meaning]]:
        data = self.data
        for words in data["nouns"]:
            yield words, Meaning("noun", self.key, words)
        for words_of, measure in self.measures:
            for words in words_of:
                yield words, Meaning("measure", measure, words)
        for words, rate in rates_of(data):
            yield words, Meaning("rate", rate, words)
        for words, text in data.get("states", {}).items():
            amount = self._state_amounts.get(words)
            state = {"text": text, "date": self._state_dates.get(words), "amount": amount}
            yield words, Meaning("state", state, words)
        for words, state in pending_states(data):
            yield words, Meaning("state", state, words)
        yield from self._enumerations()
        for order, all_words in data.get("orders", {}).items():
            for words in all_words:
                yield words, Meaning("order", order, words)
        for path, all_words in data.get("dates", {}).items():
            for words in all_words:
                yield words, Meaning("date", path, words)
        for name, dimension in self.dimensions.items():
            for words in (*data.get("dimensions", {}).get(name, ("",))[1:], spoken(name)):
                if words:
                    yield words, Meaning("dimension", dimension, words)
                if words and dimension.path.startswith("Client/") and name != "client":
                    for owner in ("client", "customer"):
                        whole = f"{owner} {words}"
                        yield whole, Meaning("dimension", dimension, whole)
        if self.join is None:
            yield from self._properties()

    def _enumerations(self) -> Iterator[tuple[str, Meaning]]:
        for path, members in self.data.get("enums", {}).items():
            for member, all_words in members.items():
                for words in all_words:
                    yield words, self._value(path, member, words)
        if self.join is not None:
            return
        spoken_as = self.data.get("values", {})
        subsets = self.data.get("subsets", {})
        for name, prop in self.type.properties.items():
            if name in _NO_STATES or (self.base or "").startswith(f"{name} eq"):
                continue
            for member in members_of(prop):
                for words in subsets.get(member, ()):
                    value = self._value(name, member, words)
                    yield words, Meaning("subset", value.value, words)
                named = () if spoken(member) in self.dimensions else (spoken(member),)
                for words in (*spoken_as.get(member, ()), *named):
                    yield words, self._value(name, member, words)

    def _value(self, path: str, member: str, words: str) -> Meaning:
        return Meaning(
            "state",
            {"text": f"{path} eq '{member}'", "property": path, "values": (member,),
             "date": self._state_dates.get(member)},
            words,
        )  # fmt: skip

    def _properties(self) -> Iterator[tuple[str, Meaning]]:
        synonyms = self.data.get("properties", {})
        for name, prop in self.type.properties.items():
            if not isinstance(prop.type, edm.PrimitiveType) or prop.on_request:
                continue
            kind = "boolean" if prop.type.name == "Edm.Boolean" else "property"
            for words in (*synonyms.get(name, ()), spoken(name.removeprefix("is"))):
                if kind == "boolean":
                    yield words, Meaning("state", {"text": name}, words)
                elif name != "id":
                    yield words, Meaning("property", name, words)


class Vocabulary:
    """All phrases of one language."""

    def __init__(self, data: Mapping[str, Any], container: edm.EntityContainer) -> None:
        self.entities = {
            key: Entity(key, value, container) for key, value in data["entities"].items()
        }
        self.words: dict[Phrase, list[Meaning]] = defaultdict(list)
        for name, texts in data["words"].items():
            if name in _SINGLE:
                continue
            for text in texts:
                self._add(text, Meaning(name, None, text))
        for code, texts in data["currencies"].items():
            for text in texts:
                self._add(text, Meaning("currency", code, text))
        for entity in self.entities.values():
            for stems, meanings in entity.lexicon.items():
                for meaning in meanings:
                    if meaning.kind == "noun":
                        self.words[stems].append(Meaning("noun", entity.key, meaning.words))
        self.tagging = frozenset(phrase(text)[0] for text in data["words"]["tagging"])
        figures = data["figures"]
        self.links = frozenset(phrase(text)[0] for text in figures["links"])
        self.between = frozenset(phrase(text)[0] for text in figures["between"])
        self.figures: Mapping[Phrase, str] = {
            phrase(text): method
            for method in ("count", "sum", "average", "max", "min")
            for text in figures[method]
        }
        self.beyond = [phrase(text) for text in data["words"]["beyond"]]
        self.refused = [phrase(text) for text in data["words"]["refused"]]
        self.wordings = Wordings(data)
        self.typed = Typed(data)
        self.periods = PeriodReader(data["periods"], data["months"]["names"], data["feasts"])
        self.idioms = [*histories(data), *idioms_of(data)]
        self.ambiguous = [
            (re.compile(pattern, re.IGNORECASE), list(choices))
            for pattern, choices in data["ambiguous"].items()
        ]
        self.yes_no = frozenset(phrase(text)[0] for text in data["words"]["yes_no"])
        self.introduces = frozenset(phrase(text)[0] for text in data["words"]["introduces"])
        self._percent = frozenset(phrase(text)[0] for text in data["words"]["percent"])
        self.nearest: Mapping[str, str] = data["nearest"]
        self.pronouns = frozenset(phrase(text)[0] for text in data["words"]["pronouns"])
        self.possessives = frozenset(phrase(text)[0] for text in data["words"]["possessives"])
        self.talk = frozenset(phrase(text)[0] for text in data["words"]["talk"])
        self.reasons = [phrase(text) for text in data["words"]["reasons"]]
        self.inside = frozenset(data["languages"]["inside"])
        self.languages = frozenset(data["languages"]["names"])
        self.numbers = {letters: (key, path) for letters, (key, path) in data["numbers"].items()}
        self.places = {name.lower(): own for name, own in data.get("places", {}).items()}
        self.country_codes: dict[Phrase, str] = {}
        for code, names in data["countries"].items():
            for name in names:
                self.country_codes.setdefault(phrase(name), code)

    def is_percent(self, token: Token) -> bool:
        """Whether a word behind a number only says what it is counted in."""
        return token.stem in self._percent

    def _add(self, text: str, meaning: Meaning) -> None:
        if stems := phrase(text):
            self.words[stems].append(meaning)

    def is_of_records(self, word: str, kinds: Collection[str]) -> bool:
        """Whether a word alone is about records of some entity, in one of these ways."""
        return bool(self._told.get(word, frozenset()) & set(kinds))

    def is_measure(self, words: Phrase) -> bool:
        """Whether words are a figure of some entity."""
        return any(
            meaning.kind == "measure"
            for entity in self.entities.values()
            for meaning in entity.lexicon.get(words, ())
        )

    @cached_property
    def _told(self) -> Mapping[str, frozenset[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for entity in self.entities.values():
            for stems, meanings in entity.lexicon.items():
                if len(stems) == 1:
                    found[stems[0]] |= {meaning.kind for meaning in meanings}
        return {word: frozenset(kinds) for word, kinds in found.items()}

    @cached_property
    def known(self) -> frozenset[str]:
        """Every single word that means something."""
        found = {word for stems in self.words for word in stems} | self.periods.words
        for entity in self.entities.values():
            found |= {word for stems in entity.lexicon for word in stems}
        found |= {word for words in self.wordings.regions for word in words}
        found |= {word for words in self.country_codes for word in words}
        return frozenset(found)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """Single words for what happens to records, or the state that it leaves them in."""
        waiting = (verb for one in self.entities.values() for verb in pending_verbs(one.data))
        return frozenset(waiting) | frozenset(
            stems[0]
            for entity in self.entities.values()
            for stems, meanings in entity.lexicon.items()
            if len(stems) == 1 and {"date", "state"} & {meaning.kind for meaning in meanings}
        )
