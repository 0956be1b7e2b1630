"""The record in the context: a summary, the properties that are asked for, parts of it.

What is worth saying of a record of each type is read from ``profiles.toml``; which properties a
question asks for is what the grammar of questions says (``app.bi``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.ai.context import citation_of, cited, entity_type, name_of, states_of
from app.ai.free_text import SUMMARY, read_text
from app.ai.lexicon import is_asked, language_of, languages, message_of, spoken
from app.ai.parts import Ask, Citation, Part, RecordContext, Text, ToolCall, ToolResult
from app.ai.wording import label, value_text
from app.bi.answering import named_among
from app.bi.plans.entities import spoken as name_in_words
from app.container import engine
from app.container.measures import MEASURES
from app.container.words import word_text
from app.errors import ForbiddenError, NotFoundError
from app.localisation import catalogue
from app.localisation.catalogue import SOURCE
from app.localisation.data_files import data_beside
from app.odata.model import edm
from app.search.analysis import words


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
    """What is told of records of a type in a summary."""

    facts: tuple[str, ...]
    listings: tuple[Listing, ...]


def _listing(*, measure: str = "", condition: str = "", **values: Any) -> Listing:
    """``measure``: the figure whose records are listed, in place of a condition."""
    return Listing(condition=MEASURES[measure].condition if measure else condition, **values)


_DATA = data_beside(__file__, "profiles.toml")
_LISTINGS = {name: _listing(**values) for name, values in _DATA["listings"].items()}
PROFILES = {
    entity: Profile(tuple(data["facts"]), tuple(_LISTINGS[name] for name in data["listings"]))
    for entity, data in _DATA["types"].items()
}
SILENT_ZEROS = frozenset(_DATA["silent_zeros"])
# The property that names who or what a navigation property leads to.
_NAMES = frozenset(("name", "fullName", "displayName"))
_PLACEHOLDER = re.compile(r"{(\w+)}")
_PAST = re.compile(r"\w+ed|sent|paid")
_LONGEST_LINE, _LONGEST_FACT = 200, 500
_LONGEST_WORDS = 10  # of a message that asks for parts of the record


def _value_sentence(ask: Ask, name: str, title: str, value: str) -> str:
    """That a property of a record has a value, as a sentence."""
    if ask.language == SOURCE:
        return _sentence(name_in_words(name), title, value)
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


def wants_summary(text: str) -> bool:
    """Whether a message asks for all that matters of the record."""
    return any(
        each.has("summary.phrases")
        for code in languages()
        for message in [message_of(text, code)]
        for each in (message, message.without("summary.between"))
    )


def summary_of(text: str) -> str | None:
    """What the record is called that a message wants told of; empty for that of the conversation,
    None where it wants no such thing."""
    likeliest = language_of(text)
    for code in sorted(spoken(), key=lambda each: each != likeliest):
        free_text = read_text(text, code, SUMMARY)
        if free_text is not None:
            # "Who is it assigned to?" asks for something of it.
            return free_text.name if free_text.name or not is_asked(text) else None
    return None


def reason_asked(text: str, record: RecordContext) -> str | None:
    """The property that says why a record is what it is, where that is asked."""
    names = [name for name in entity_type(record.entity).properties if name.endswith("Reason")]
    for code in spoken():
        message = message_of(text, code)
        named = named_among(message.tokens, code, record.entity)
        states = [state.removeprefix("Closed").lower() for *_, state in named if state]
        for name in names if message.at("language.why", 0) else ():
            is_asked_for = any(each.startswith(name.removesuffix("Reason")) for each in states)
            if is_asked_for and engine.read_one(record.path, select=name)[name] is not None:
                return name
    return None


def answer_properties(ask: Ask, record: RecordContext, paths: Sequence[str]) -> Iterator[Part]:
    """Say the values of properties: ``dueDate``, ``Owner/displayName``, ``billingAddress/city``."""
    for index, path in enumerate(paths):
        expand = _expanded(entity_type(record.entity), path)
        options = {"expand": expand} if expand else {}
        yield ToolCall("read_record", {"record": record.path, **(options or {"select": path})})
        row: Any = engine.read_one(record.path, **options)
        *steps, last = path.split("/")
        for step in steps:
            row = row and row[step]
        name = last if not expand else "".join((*steps, *((last,) if last not in _NAMES else ())))
        is_own = not steps
        value = (_texts(ask, record.entity, row)[last] if is_own
                 else value_text(row and row[last], ask.language))  # fmt: skip
        yield ToolResult("ok", f"{name} = {value}")
        sentence = _value_sentence(ask, name, record.title, value)
        yield Text(f"\n{sentence}" if index else sentence, citation_of(record, sentence))


def _expanded(type_: edm.EntityType, path: str) -> str:
    """What ``$expand`` reads the value at a path; empty of the record's own."""
    first, _, rest = path.partition("/")
    if first not in type_.navigation:
        return ""
    inner = _expanded(entity_type(type_.navigation[first].target), rest)
    options = f"$expand={inner}" if inner else f"$select={rest.partition('/')[0]}"
    return f"{first}({options})"


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
        yield Text(" ".join(fact.split())[:_LONGEST_FACT], source)
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
        own = cited(kind, row["id"], name_of(kind, row), line) if is_source else source
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
        is_member = isinstance(declared and declared.type, edm.EnumType)
        is_state = isinstance(value, str) and (is_member or value in states_of(entity, name))
        texts[name] = (
            word_text(value, ask.language)
            if is_state
            else value_text(value, ask.language, currency=currency)
        )
    return texts


def _is_worth_saying(name: str, value: Any) -> bool:
    return value not in (None, "", [], {}) and not (name in SILENT_ZEROS and value == 0)


def find_listing(ask: Ask, record: RecordContext, *, parts: bool) -> Listing | None:
    """The records of the one in the context that a short message names, or None.

    Args:
        parts: of those that have no address of their own, and are no records to questions.
    """
    message_words = " ".join(words(ask.text))
    if message_words.count(" ") >= _LONGEST_WORDS:
        return None
    messages = [message_of(ask.text, code) for code in languages()]
    for listing in PROFILES[record.entity].listings:
        name = listing.navigation
        names = (" ".join(words(label(name, code))) for code in catalogue.languages())
        is_named = any(f" {each} " in f" {message_words} " for each in names)
        is_said = any(message.has(f"parts.{name}") for message in messages)
        if (listing.entity is None) == parts and (is_named or is_said):
            return listing
    return None


def answer_listing(ask: Ask, record: RecordContext, listing: Listing) -> Iterator[Part]:
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
