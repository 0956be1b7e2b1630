"""Questions about the record in the context: a summary, a property, what belongs to it.

What is worth saying of a record of each type is read from ``profiles.toml``. What is counted, or
chosen by more than that it belongs to the record, is a question about figures.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from app.ai.context import citation_of, cited, entity_type, states_of, title_of
from app.ai.lexicon import language_of, lexicon_of, pattern
from app.ai.parts import Ask, Citation, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.wording import label, spoken, value_text
from app.container import engine
from app.container.measures import MEASURES
from app.container.words import word_text
from app.errors import ForbiddenError, NotFoundError
from app.odata.model import edm
from app.search.analysis import words
from app.written.catalogue import SOURCE


@dataclass(frozen=True)
class Listing:
    """Related records; ``entity`` is None where they are parts, without addresses of their own."""

    navigation: str
    title: str
    line: str
    entity: str | None = None
    condition: str = ""
    order: str = "id desc"
    most: int = 5
    overdue: bool = False


@dataclass(frozen=True)
class Profile:
    """What is told of records of a type.

    ``synonyms``: what people say -> the property that they mean; names of properties are understood
    anyway. ``amounts``: the same behind "how much", where a word means something else otherwise.
    """

    facts: tuple[str, ...]
    listings: tuple[Listing, ...]
    related: tuple[Listing, ...]
    synonyms: Mapping[str, str]
    amounts: Mapping[str, str]


def _listing(*, measure: str = "", condition: str = "", **values: Any) -> Listing:
    """``measure``: the figure whose records are listed, in place of a condition."""
    return Listing(condition=MEASURES[measure].condition if measure else condition, **values)


def _profile(declared: Mapping[str, Any]) -> Profile:
    called = declared.get("called", {})
    return Profile(
        facts=tuple(declared["facts"]),
        listings=tuple(_LISTINGS[name] for name in declared["listings"]),
        related=tuple(_LISTINGS[name] for name in declared.get("related", ())),
        synonyms={word: name for name, synonyms in called.items() for word in synonyms},
        amounts=declared.get("amounts", {}),
    )


_DATA: dict[str, Any] = tomllib.loads(
    files(__package__).joinpath("profiles.toml").read_text(encoding="utf-8")
)
_LISTINGS = {name: _listing(**values) for name, values in _DATA["listings"].items()}
PROFILES = {entity: _profile(declared) for entity, declared in _DATA["types"].items()}
SILENT_ZEROS = frozenset(_DATA["silent_zeros"])
# Navigation property -> what people call who or what is behind it.
PEOPLE: Mapping[str, list[str]] = _DATA["people"]
RECORDS = {name: frozenset(nouns) for name, nouns in _DATA["records"].items()}
# The property that names a person of a record, where it is not ``displayName``.
NAMED_BY = {"Client": "name", "Contact": "fullName"}


# What goes with the bare name of a property, and asks for nothing else.
_FILLERS = frozenset((
    "the", "its", "his", "her", "their", "this", "please", "of", "it", "and", "und", "der", "die",
    "das", "den", "ihr", "ihre", "deren", "dessen", "bitte", "davon", "dazu",
))  # fmt: skip
_WHEN, _WHO = frozenset(("when", "wann")), frozenset(("who", "whos", "wer", "wem", "wessen"))
_WE = frozenset(("we", "wir"))
_HOW_MUCH = (["how", "much"], ["wie", "viel"], ["wieviel"])
_IS = ("is", "are", "ist", "sind")
_EMAIL = re.compile(r"\be-mail", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"{(\w+)}")
_PAST = re.compile(r"\w+ed|sent|paid")
_LONGEST_LINE = 200
_WHICH = frozenset(("which", "what", "whose", "welche", "welcher", "welches", "welchen"))
_LONGEST_STATE_QUESTION = 6
_DATES = (edm.DATE, edm.DATETIME)
# Never asked for by these words alone: they are in too many questions.
_TOO_COMMON = frozenset(("id", "name", "title", "type", "number", "version", "language", "source"))


def _value_sentence(ask: Ask, name: str, title: str, value: str) -> str:
    """That a property of a record has a value, as a sentence."""
    if ask.language == SOURCE:
        return _sentence(spoken(name), title, value)
    text = ask.translated("%(label)s of %(title)s: %(value)s.", label=label(name, ask.language),
                          title=title, value=value.removesuffix("."))  # fmt: skip
    return text[:1].upper() + text[1:]


def _sentence(name: str, title: str, value: str) -> str:
    """``payment terms days`` and ``30`` -> ``The payment terms of Acme are 30 days.``

    ``is overdue`` and ``no`` -> ``Acme is not overdue.``; ``paid at`` -> ``It was paid on ...``
    """
    if value in ("yes", "no"):
        if name.startswith("is "):
            return f"{title} is {'not ' if value == 'no' else ''}{name.removeprefix('is ')}."
        return f"{name.capitalize()} for {title}: {value}."
    if name.endswith(" at"):
        name = name.removesuffix(" at")
        if _PAST.fullmatch(name):
            done = value != value_text(None)
            return f"{title} was {name} on {value}." if done else f"{title} is not {name} yet."
        name += " date"
    if name.endswith((" days", " hours", " percent")):
        name, _, unit = name.rpartition(" ")
        value = f"{value} {'%' if unit == 'percent' else unit}"
    plural = name.removesuffix(" sent")
    verb = "are" if plural.endswith("s") and not plural.endswith(("ss", "us", "is")) else "is"
    return f"The {name} of {title} {verb} {value.removesuffix('.')}."


def wants_summary(text: str, entity: str | None = None) -> bool:
    """Whether a message asks for all that matters of the record.

    Args:
        entity: its type: what is compared, such as hours spent and planned, is told with the rest.
    """
    if entity == "Project" and pattern("compared").search(text):
        return True
    return pattern("summary").search(text) is not None


def find_property(ask: Ask, record: RecordContext) -> str | None:
    """The property of the record in the context that a question means, or None.

    A person of the record, such as its owner, is a navigation property. A message that is nothing
    but the name of one, ``due date?``, asks for it.
    """
    question_words = _words_of(ask)
    language = language_of(ask.text, ask.language)
    asked_state = _requested_state(record.entity, question_words, language)
    if asked_state is not None:
        return asked_state
    phrases = _phrases(record.entity, language)
    if _WHEN & set(question_words):
        phrases = _moments(record.entity, language)
    elif any(_contains(question_words, phrase) for phrase in _HOW_MUCH):
        phrases = _amounts(record.entity, language) or phrases
    if not pattern("property").search(ask.text):
        return phrases.get(" ".join(word for word in question_words if word not in _FILLERS))
    matches = [
        (phrase not in _TOO_COMMON and name not in NAMED_BY, len(phrase.split()), len(phrase), name)
        for phrase, name in phrases.items()
        if (phrase not in _TOO_COMMON or len(question_words) <= 6)
        and (
            name not in PEOPLE
            or _WHO & set(question_words)
            or (name in NAMED_BY and _WHICH & set(question_words))
        )
        and _contains(question_words, phrase.split())
    ]
    name = max(matches)[3] if matches else None
    # "How much revenue did we make with them?" asks for none of theirs.
    is_ours = bool(_WE & set(question_words)) and name in _amounts(record.entity, language).values()
    return None if is_ours else name


def is_name_of_property(ask: Ask) -> bool:
    """Whether a message is nothing but the name of a property of the record: ``credit limit``."""
    if ask.record is None:
        return False
    question_words = _words_of(ask)
    return " ".join(word for word in question_words if word not in _FILLERS) in _phrases(
        ask.record.entity, language_of(ask.text, ask.language)
    )


def _words_of(ask: Ask) -> list[str]:
    """The words of a message without case and accents."""
    return list(words(_EMAIL.sub("email", ask.text)))


@cache
def _phrases(entity: str, language: str) -> dict[str, str]:
    """What people say in a language -> the property of this type that they mean."""
    type_ = entity_type(entity)
    phrases: dict[str, str] = {spoken(name): name for name in type_.properties}
    for name, declared in type_.properties.items():
        short = spoken(name.removesuffix("At"))
        if declared.type in _DATES and " " in short:  # "next activity" of nextActivityAt
            phrases.setdefault(short, name)
        if language != SOURCE:
            phrases.setdefault(" ".join(words(label(name, language))), name)
    called = lexicon_of(language).list_of("called")
    for name, english in PEOPLE.items():
        if name in type_.navigation:
            spoken_names = [*english, *called.get("people", {}).get(name, ())]
            phrases |= {" ".join(words(each)): name for each in spoken_names}
    phrases.update(PROFILES[entity].synonyms if entity in PROFILES else {})
    for name, spoken_names in called.get(entity, {}).items():
        phrases |= {" ".join(words(each)): name for each in spoken_names}
    return phrases


def _moments(entity: str, language: str) -> dict[str, str]:
    """What people say after "when" -> the date or instant that they mean: ``paid``, ``due``."""
    properties = entity_type(entity).properties
    dated = {name for name, declared in properties.items() if declared.type in _DATES}
    phrases = {phrase: name for phrase, name in _phrases(entity, language).items()
               if name in dated}  # fmt: skip
    return phrases | {
        spoken(name.removesuffix("At")): name for name in sorted(dated) if name.endswith("At")
    }


def _amounts(entity: str, language: str) -> dict[str, str]:
    """What people say after "how much" -> the amount that they mean: ``due`` of an invoice."""
    properties = entity_type(entity).properties
    amounts = {name for name, declared in properties.items() if declared.currency_property}
    phrases = {phrase: name for phrase, name in _phrases(entity, language).items()
               if name in amounts}  # fmt: skip
    return phrases | dict(PROFILES[entity].amounts if entity in PROFILES else {})


def _requested_state(entity: str, question: list[str], language: str) -> str | None:
    """The property whose state is asked for, ``Is it blocked?``; None for other questions."""
    if not question or question[0] not in _IS or len(question) > _LONGEST_STATE_QUESTION:
        return None
    for name in ("status", "stage", "rating", "visibility"):
        for state in states_of(entity, name):
            called = (spoken(state), word_text(state, language))
            if any(_contains(question, list(words(each))) for each in called):
                return name
    return None


def answer_property(ask: Ask, record: RecordContext, name: str) -> Iterator[Part]:
    """Say the value of one property, or who one person of the record is."""
    if name in PEOPLE:
        named_by = NAMED_BY.get(name, "displayName")
        expand = f"{name}($select={named_by})"
        yield ToolCall("read_record", {"record": record.path, "expand": expand})
        person = engine.read_one(record.path, select="id", expand=expand)[name]
        value = person[named_by] if person else value_text(None, ask.language)
    else:
        yield ToolCall("read_record", {"record": record.path, "select": name})
        value = _texts(ask, record.entity, engine.read_one(record.path))[name]
    yield ToolResult("ok", f"{name} = {value}")
    sentence = _value_sentence(ask, name, record.title, value)
    yield Text(sentence, citation_of(record, sentence))


def summarise(ask: Ask, record: RecordContext) -> Iterator[Part]:
    """Facts, open items and history of the record, each sentence from the record it cites."""
    profile = PROFILES[record.entity]
    yield ToolCall("read_record", {"record": record.path})
    row = engine.read_one(record.path)
    yield ToolResult("ok", record.title)
    texts = _texts(ask, record.entity, row)
    facts = [
        ask.translated(template).format(**texts)
        for template in profile.facts
        if all(_is_worth_saying(name, row.get(name)) for name in _PLACEHOLDER.findall(template))
    ]
    source = citation_of(record, facts[0] if facts else "")
    for fact in facts:
        yield Text(fact, source)
    for listing in profile.listings:
        yield from list_related(ask, record, listing, source, row.get("currency"))


def list_related(
    ask: Ask, record: RecordContext, listing: Listing, source: Citation, currency: str | None
) -> Iterator[Part]:
    """The records of a listing, each with its source; nothing where there is none to be read.

    Args:
        currency: that of the record in the context, for amounts of its parts.
    """
    options = {"orderby": listing.order, "top": listing.most, "count": "true"}
    if listing.condition:
        options["filter"] = listing.condition
    path = f"{record.path}/{listing.navigation}"
    try:
        rows = engine.read_many(path, **options)
    except (ForbiddenError, NotFoundError):
        return  # what the caller may not read is not spoken of
    if not rows:
        return
    navigation = entity_type(record.entity).navigation[listing.navigation]
    kind = listing.entity or navigation.target
    yield Text(f"\n{ask.translated(listing.title)}:", source)
    for row in rows:
        texts = _texts(ask, kind, row, currency)
        if not all(name in texts for name in _PLACEHOLDER.findall(listing.line)):
            continue
        line = " ".join(ask.translated(listing.line).format(**texts).split())[:_LONGEST_LINE]
        if listing.overdue and row.get("isOverdue"):
            line += ask.translated(", overdue")
        is_source = listing.entity is not None
        own = cited(kind, row["id"], title_of(kind, row), line) if is_source else source
        yield Text(f"\n- {line}", own)


def _texts(
    ask: Ask, entity: str, row: Mapping[str, Any], outer: str | None = None
) -> dict[str, str]:
    """The values of a row in words, amounts with the currency that their property names.

    Args:
        outer: the currency of the record that the row is a part of.
    """
    properties = entity_type(entity).properties
    texts = {}
    for name, value in row.items():
        declared = properties.get(name)
        by = declared.currency_property if declared is not None else None
        currency = row.get(by) or outer if by else None
        is_state = isinstance(value, str) and value in states_of(entity, name)
        texts[name] = (
            word_text(value, ask.language)
            if is_state
            else value_text(value, ask.language, currency=currency)
        )
    return texts


def _is_worth_saying(name: str, value: Any) -> bool:
    return value not in (None, "", [], {}) and not (name in SILENT_ZEROS and value == 0)


def _contains(text: list[str], phrase: list[str]) -> bool:
    length = len(phrase)
    return any(text[start : start + length] == phrase for start in range(len(text) - length + 1))


_LONGEST_WORDS = 10


def find_related(ask: Ask, record: RecordContext) -> Listing | None:
    """The records of the one in the context that a question asks for, or None."""
    question_words = set(words(ask.text))
    if len(ask.text.split()) > _LONGEST_WORDS or pattern("of_all_records").search(ask.text):
        return None
    profile = PROFILES[record.entity]
    for listing in (*profile.related, *profile.listings):
        if question_words & RECORDS.get(listing.navigation, frozenset()):
            return listing
    return None


def answer_related(ask: Ask, record: RecordContext, listing: Listing) -> Iterator[Part]:
    """The records, each with its address; that there is none, too."""
    yield ToolCall("read_record", {"record": record.path, "expand": listing.navigation})
    source = citation_of(record)
    parts = list(list_related(ask, record, listing, source, _currency(record)))
    yield ToolResult("ok", listing.title)
    title = ask.translated(listing.title)
    nothing = ask.translated("%(title)s of %(record)s: none.", title=title, record=record.title)
    yield from parts or (Text(nothing, source),)


def _currency(record: RecordContext) -> str | None:
    if "currency" not in entity_type(record.entity).properties:
        return None
    currency: str | None = engine.read_one(record.path, select="currency")["currency"]
    return currency
