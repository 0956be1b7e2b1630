"""What the caller's own words fill in for a change: the values of its arguments.

Properties and their values are known by the words of questions (``app.bi``), days by their
periods. What is not said stays open, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from app.ai.context import entity_type
from app.ai.due import Due, day_ahead
from app.ai.free_text import FreeText
from app.ai.lexicon import ADDRESS, KINDS, RECORD_NUMBER, SIGNS, Message, is_number
from app.ai.parts import RecordContext
from app.ai.references import find_named, find_numbered
from app.ai.wishes import CHANGING, LOWERING, RAISING
from app.bi.answering import named_among, periods_in, reply_to, state_of_record
from app.container import engine
from app.container.model import container, referred_by, title_of
from app.container.words import word_text
from app.db.types import iso_instant
from app.http.security import current_caller
from app.localisation.catalogue import SOURCE
from app.odata.model import edm
from app.odata.names import apart
from app.search.analysis import stop_words
from app.settings.days import NOON, start_of, today

_ENDS = (",", ";", ".", "!", "?", "(", "-", ":")
# Where a text is wanted, what is said besides is the first of these that there is.
_TEXTS = ("reason", "body", "notes", "message")
_PEOPLE = ("assigneeId", "ownerId", "managerId")
# What is shorter is a code: of a currency, a language.
_LONGEST_CODE = 10
_LONGEST_NAME = 100
_NAME = {"type": "string", "maxLength": _LONGEST_NAME}
_SAID_BESIDES = ("language.fillers", "language.polite", "language.things")
Schemas = Mapping[str, Any]


class Filling:
    """The values that a message has for arguments.

    Args:
        message: in the words of the language that it is in.
        schemas: the JSON Schemas of the arguments.
        entity: the type whose properties they are; empty where they are of none.
        record: the record that the change is about.
        free_text: the free text that it has, and what it says before that.
        before: what the messages before it say, which it completes or corrects.
        language: to answer in.
    """

    def __init__(
        self, message: Message, schemas: Schemas, entity: str,
        record: RecordContext | None = None, free_text: FreeText | None = None,
        before: Filling | None = None, language: str = SOURCE,
    ) -> None:  # fmt: skip
        self.message, self._schemas, self._entity = message, schemas, entity
        self.record, self.free_text, self.language = record, free_text, language
        self.before: Mapping[str, Any] = {} if before is None else before.all
        self.is_first = before is None
        self._taken = {index for index, token in enumerate(message.tokens)
                       if RECORD_NUMBER.fullmatch(token.text)}  # fmt: skip
        for each in message.numbered:
            self._taken.update(range(each.start, each.end))
        self.values: dict[str, Any] = {}
        self.spans: set[int] = set()  # where properties and values begin
        self._named: dict[str, range] = {}  # where properties are
        self.remark = ""  # to be told beside the proposal
        self.unknown = ""  # what nothing is called

    @property
    def all(self) -> Mapping[str, Any]:
        """The values of this message, and of those before it."""
        return {**self.before, **self.values}

    @cached_property
    def _type(self) -> edm.EntityType:
        return entity_type(self._entity)

    @cached_property
    def _days(self) -> Sequence[tuple[int, int, Any]]:
        return tuple(self._read_days())

    @property
    def names(self) -> set[str]:
        """The arguments that are named."""
        return self._named.keys() & self._schemas.keys()

    @property
    def is_all(self) -> bool:
        """Whether values, and the properties that have them, are all that the message says."""
        little, message = stop_words(self.message.lexicon.code), self.message
        named = {index for name in self.names & self.values.keys() for index in self._named[name]}
        others = [
            index
            for index, word in enumerate(message.words(""))
            if index not in self._taken | named
            and word not in little
            and not message.at_any((*_SAID_BESIDES, KINDS), index)
        ]
        return bool(self.values) and not others

    # --- what is said with the name of a property, or is the value of one

    def read_properties(self) -> None:
        """Values that stand beside their properties, and those that a property may be."""
        code = self.message.lexicon.code
        places = {token.start: index for index, token in enumerate(self.message.tokens)}
        named = sorted(
            ((places[start], places.get(end, len(places)), name, member)
             for start, end, name, member in named_among(self.message.tokens, code,
                                                         self._type.name)
             if start in places),
            key=lambda each: (each[0], -each[1]),
        )  # fmt: skip
        properties = {(start, end) for start, end, _, member in named if not member}
        self._named = {name: range(start, end) for start, end, name, member in named if not member}
        for start, end, name, member in named:
            # "Email" is a property, and a source only where that is named, too.
            if member and (start, end) in properties and name not in self._named:
                continue
            if start not in self._taken:
                self.spans.add(start)
            if self._taken.isdisjoint(range(start, end)) and name not in self.values:
                self._read_pair(start, end, name, member)

    def _read_pair(self, start: int, end: int, name: str, member: str) -> None:
        name, member = self._written(name, member)
        if name not in self._schemas:
            return
        value: Any = member
        if not member:
            index = self._behind(end)
            value, end = self._value_at(index, self._schemas[name])
            if value is None and self.message.at("update.links", index - 1):
                value, end = self._text_at(index, self._schemas[name])
        elif name.endswith("Reason"):  # "price was too high": the rest says it at length
            end = self._end_of(start)
        if value is not None:
            self.values[name] = value
            self._taken.update(range(start, end))

    def _written(self, name: str, member: str) -> tuple[str, str]:
        """What is written: ``ClosedLost`` is a stage, which makes the status ``Lost``."""
        for other in (name, "stage"):
            for option in self._schemas.get(other, {}).get("enum") or ():
                if member and option and option.removeprefix("Closed") == member:
                    return other, option
        return name, member

    def _value_at(self, index: int, schema: Mapping[str, Any]) -> tuple[Any, int]:
        """The value of a type that begins at a place, and where it ends; None for none."""
        if {"number", "integer"} & _types(schema):
            if index < len(self.message) and is_number(self.message.tokens[index]):
                return self._number(index), index + 1
            return None, index
        if "date" in schema.get("format", ""):
            for start, end, day in self._days:
                if start <= index < end:
                    return _written_day(day_ahead(day, today()), schema), end
        return None, index

    def _behind(self, index: int) -> int:
        """Where the value of a property begins, behind its record: ``of client 5 to``."""
        before, leading = -1, ("update.links", "language.fillers", "language.whose")
        while before != index:
            before = index
            index = self.message.skipped(index, *leading, "language.companies", KINDS)
            index += index in self._taken
        return index

    def _text_at(self, index: int, schema: Mapping[str, Any]) -> tuple[str | None, int]:
        """The text behind a word that leads to it, without the verb that may stand last."""
        message, end = self.message, len(self.message)
        while end > index and message.at_any((*CHANGING, "language.polite"), end - 1):
            end -= 1
        text = message.written(index, end).strip(SIGNS)
        is_free = "string" in _types(schema) and not {"enum", "format"} & schema.keys()
        is_free = is_free and schema.get("maxLength", 0) > _LONGEST_CODE
        return (text, end) if text and is_free else (None, index)

    def _number(self, index: int) -> Any:
        number = self.message.tokens[index].number or Decimal(0)
        return int(number) if number == number.to_integral_value() else number

    # --- what has the form of a value

    def _read_days(self) -> Iterator[tuple[int, int, Any]]:
        end_before = 0
        places = periods_in(self.message.tokens, self.message.lexicon.code)
        for start, end, period in sorted(places, key=lambda each: (each[0], -each[1])):
            if start >= end_before and period.start is not None:
                yield start, end, period
                end_before = end

    def read_amount(self, name: str) -> None:
        """The number that stands by itself."""
        dated = {index for start, end, _ in self._days for index in range(start, end)}
        for index, token in enumerate(self.message.tokens):
            is_free = index not in self._taken and index not in dated
            if is_free and name not in self.values and token.kind == "number" and token.number:
                self.values[name] = self._number(index)
                self._taken.add(index)

    def read_day(self, name: str) -> None:
        """The day that is named, which is past or today: of what has been done."""
        day = next((period.start for _, _, period in self._days), None)
        if day is not None or name not in self.before:
            self.values.setdefault(name, str(day or today()))

    def read_states(self, name: str, imperatives: Mapping[str, str]) -> None:
        """The state that a word for the whole change means: ``close it``."""
        for word in self.message.words("") if name not in self.values else ():
            if word in imperatives:
                self.values.setdefault(name, imperatives[word])
        message, options = self.message, self._schemas.get(name, {}).get("enum") or ()
        for option in filter(None, options):
            for text in (apart(option), word_text(option, message.lexicon.code)):
                for start, _ in message.places((text,)):
                    if message.at("update.links", start - 1):
                        self.values.setdefault(name, option)
        for start, _ in message.places("update.alone") if name not in self.values else ():
            states = [each for each in message.value("update.alone", start)[1] if each in options]
            if states and start not in self._taken:
                self.values.setdefault(name, states[0])

    def read_flags(self) -> None:
        """What is to be so, by the words of its name: ``create an opportunity``."""
        for name, schema in self._schemas.items():
            words = apart(name).split()
            is_flag = "boolean" in _types(schema) and len(words) > 1
            if is_flag and all(self.message.has((word,)) for word in words):
                self.values[name] = True

    def read_address(self) -> None:
        for name in ("email", "requesterEmail"):
            if name in self._schemas and (address := ADDRESS.search(self.message.text)):
                self.values[name] = address.group().strip(SIGNS)

    def read_text(self, name: str) -> None:
        """What is said behind a mark, or behind a word for a reason."""
        message = self.message
        places = [end for _, end in message.places("update.reasons")]
        places += [index for index, token in enumerate(message.tokens)
                   if token.mark in (",", ":", "-", ";") and index]  # fmt: skip
        text = message.written(places[0]).strip(SIGNS) if places else ""
        if text:
            self.values.setdefault(name, text)

    def read_raised(self) -> None:
        """A number that is made larger or smaller, by so much or to so much: ``by 10 %``.

        It is that of the property that is named, else the one amount of the record.
        """
        message = self.message
        sign = message.has(RAISING) - message.has(LOWERING)
        name = next(iter(self._numbers()), "") if sign and self.record is not None else ""
        if not name or name in self.values or self.record is None:
            return
        for index, token in enumerate(message.tokens):
            before = index - (message.tokens[index - 1].kind == "sign")
            is_by = message.at("update.by", before - 1)
            is_led = is_by or message.at("update.links", before - 1)
            if token.number is None or index in self._taken or not is_led:
                continue
            value = token.number
            if is_by:
                present = engine.read_one(self.record.path, select=name)[name] or Decimal(0)
                is_part = token.kind == "percent" or message.at("update.percent", index + 1)
                part = present * value / 100 if is_part else value
                value = present + sign * part
            self.values[name] = int(value) if value == int(value) else value

    def _numbers(self) -> list[str]:
        """The numbers that are named; where none is, the one amount that is written."""
        names = [name for name in self._named if name in self._schemas
                 and {"number", "integer"} & _types(self._schemas[name])]  # fmt: skip
        return names or (self._amounts if len(self._amounts) == 1 else [])

    @property
    def _amounts(self) -> list[str]:
        """The amounts of money that are written."""
        return [name for name, prop in self._type.properties.items()
                if prop.currency_property and name in self._schemas]  # fmt: skip

    def read_reference(self) -> None:
        """Whom or what a property refers to: ``change the owner to Eva``, ``assign it to me``."""
        message, references = self.message, referred_by(self._type)
        is_assigned = message.has("update.assigning")
        if self.values or self.record is None or not (is_assigned or message.has(*CHANGING)):
            return
        keys = {name: references[prop.attribute] for name, prop in self._type.properties.items()
                if name in self._schemas and prop.attribute in references}  # fmt: skip
        name, called = "", ""
        if is_assigned:
            name = next((each for each in _PEOPLE if each in keys), "")
            others = ("update.assigning", "update.links", "language.particles", *CHANGING,
                      *_SAID_BESIDES, KINDS)  # fmt: skip
            called = " ".join(
                token.text
                for index, token in enumerate(message.tokens)
                if index not in self._taken and not message.at_any(others, index)
            )
            if name and message.has("language.mine"):
                self.values[name] = current_caller().user_id
                return
        elif (link := next(message.places("update.links"), None)) is not None:
            start = message.skipped(0, "language.leads", "language.polite", *CHANGING)
            step = self._first_step(message.written(start, link[0]).strip(SIGNS))
            name = next((key for key in keys if key.removesuffix("Id").lower() == step), "")
            called = self._text_at(link[1], _NAME)[0] or ""
        if name and called:
            referred = find_named(called, container().set_of_type[keys[name]].name)
            self.unknown = "" if referred else called
            self.values |= {name: referred.key} if referred else {}

    def _first_step(self, text: str) -> str:
        """The property of the record that some words ask for, by the first step to it."""
        record = self.record
        if record is None or not 0 < len(text) <= _LONGEST_NAME:
            return ""
        state = state_of_record(record.entity_set, record.key, record.title,
                                self.message.lexicon.code)  # fmt: skip
        path = next(iter(reply_to(text, state, limit=1).asked_paths or ()), "")
        # "The name" of a client is that of the client, and not the client.
        is_of_it = path.lower().endswith(f"/{text.split()[-1].lower()}")
        return "" if is_of_it else path.partition("/")[0].lower()

    def read_number(self) -> None:
        """Another number in place of the only one before: "no, 21"."""
        numbers = [name for name, value in self.before.items()
                   if isinstance(value, int | Decimal) and name != "id"]  # fmt: skip
        if not self.values and len(numbers) == 1:
            self.read_amount(numbers[0])

    def read_keys(self, entity: str | None) -> None:
        """The key of the record; of two of a type the first is merged into the other."""
        numbered = find_numbered(self.message.text) if self.is_first else []
        first, others = next(iter(numbered), self.record), numbered[1:]
        if not self.is_first or first is None or first.entity != entity:
            return
        self.values["id"] = first.key
        if others and "targetId" in self._schemas:
            self.values["targetId"] = others[0].key
        elif others and "sourceId" in self._schemas:
            self.values |= {"id": others[0].key, "sourceId": first.key}

    # --- what a new record is worth

    def read_worth(self) -> None:
        """The amount of a new record: that of its one property, or the price of its line."""
        if lines := lines_of(self._schemas):
            self._read_line(lines)
            return
        at, amounts = self._amount_at(0), self._amounts
        if at is not None and len(amounts) == 1 and amounts[0] not in self.values:
            self.values[amounts[0]] = self._number(at)

    def _amount_at(self, start: int) -> int | None:
        """Where an amount stands: ``over 500``, ``500 euros``."""
        message = self.message
        for index in range(start, len(message)):
            is_led = self._led_from(index) < index
            is_amount = is_led or message.at("create.currencies", index + 1)
            token = message.tokens[index]
            if token.kind == "number" and is_amount and index not in self._taken:
                return index
        return None

    def _led_from(self, index: int) -> int:
        """Where the words begin that lead to an amount: ``over €500``."""
        message = self.message
        start = index - (index > 0 and message.tokens[index - 1].kind == "sign")
        leads = [at for at in range(max(0, start - 4), start)
                 if at + message.at("create.amounts", at) == start]  # fmt: skip
        return min(leads, default=start)

    @cached_property
    def _worth_from(self) -> int:
        """Where the words begin that say what it is worth; none of what has no such thing."""
        at = self._amount_at(0) if lines_of(self._schemas) or len(self._amounts) == 1 else None
        return -1 if at is None else self._led_from(at)

    def _read_line(self, name: str) -> None:
        """One line: ``3 hours of support at 120 euros``, ``over 500 euros: support``."""
        message, line = self.message, dict(self.before.get(name, [{}])[0])
        marks = [token.mark for token in message.tokens]
        colons = [index for index, mark in enumerate(marks) if mark == ":" and index]
        start = colons[0] if colons else len(message) if self.is_first else 0
        at = self._amount_at(start)
        if at is None and (at := self._amount_at(0)) is not None and start == len(message):
            after_amount = message.skipped(at + 1, "create.currencies")
            start = after_amount + message.at("create.amounts", after_amount)
        if at is not None:
            line["unitPrice"] = self._number(at)
        end = self._led_from(at) if at is not None and at >= start else len(message)
        if start < end and is_number(message.tokens[start]):
            line["quantity"] = self._number(start)
            start = message.skipped(start + 1, "create.units")
        if start < end and (text := message.written(start, end).strip(SIGNS)):
            line["description"] = text
        if line:
            order = ("description", "quantity", "unitPrice")
            self.values[name] = [{each: line[each] for each in order if each in line}]

    def read_one_of(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """The one of some records within another, or that whose amount is said."""
        numbers = {token.number for token in self.message.tokens if token.number is not None}
        rows = [row for row in rows if row.get("amount") in numbers] or rows
        if len(rows) == 1:
            self.values["id"] = rows[0]["id"]

    # --- what is said at length

    def read_said(self, name: str) -> None:
        """The free text."""
        if self.free_text is not None and self.free_text.text:
            self.values[name] = self.free_text.text

    def read_due(self, name: str) -> None:
        """When it is to be done: at noon, where no time is said."""
        due = Due() if self.free_text is None else self.free_text.due
        if due.day is not None and name in self._schemas:
            at = due.at or time(NOON)
            instant = start_of(due.day, at.hour) + timedelta(minutes=at.minute)
            self.values[name] = iso_instant(instant)

    # --- what a new record is called

    def read_new(self) -> None:
        """The name of a new record, whose it is, and where it is of somebody the company."""
        message, type_ = self.message, self._type
        places = [end for start, end in message.places(KINDS)
                  if message.value(KINDS, start)[1] == type_.name]  # fmt: skip
        if not places:
            return
        index = message.skipped(
            places[0], "create.verbs", "language.called", "language.polite", "language.particles"
        )
        is_told = index < len(message) and message.tokens[index].mark == ":"
        whose = [span for span in message.places("language.whose") if span[0] >= index]
        until = len(message)
        if whose and not is_told:
            (start, name_at), end = whose[0], self._end_of(whose[0][1])
            client = find_named(message.written(name_at, end).strip(SIGNS), "Clients")
            if client is not None or start == index:
                until = start
                index = end if start == index else index
            if client is not None:
                self._refer(client)
                until = until if until > index else len(message)
        if self.record is not None and self.record.entity != self._entity:
            self._refer(self.record)
        self._read_company(index)
        end = min(until, self._end_of(index))
        name = message.written(index, end).strip(SIGNS)
        is_address = "@" in name
        if name and not is_address:
            self._call(name)

    def _end_of(self, start: int) -> int:
        """Where a name ends: at a mark, before a particle, or before what it is of."""
        message = self.message
        for index in range(start, len(message)):
            is_end = index > start and message.tokens[index].mark in _ENDS
            is_more = message.at_any(("language.companies",), index) and "company" in self._schemas
            is_last = index == len(message) - 1 and message.at("language.particles", index)
            is_more = is_more or index == self._worth_from
            if is_end or (index > start and is_more) or is_last:
                return index
        return len(message)

    def _read_company(self, start: int) -> None:
        message = self.message
        for at, end in message.places("language.companies") if "company" in self._schemas else ():
            if at >= start:
                name = message.written(end, self._end_of(end)).strip(SIGNS)
                self.values.setdefault("company", name)

    def _call(self, name: str) -> None:
        title = title_of(self._type.name)
        if title in self._schemas:
            self.values.setdefault(title, name)
        elif "lastName" in self._schemas:
            *first, last = name.split()
            self.values |= {"lastName": last, **({"firstName": " ".join(first)} if first else {})}

    def _refer(self, record: RecordContext) -> None:
        """The property that leads to records of the type gets the key."""
        by_attribute = referred_by(self._type)
        for name in self._schemas:
            prop = self._type.properties.get(name)
            if prop is not None and by_attribute.get(prop.attribute) == record.entity:
                self.values.setdefault(name, record.key)


def lines_of(schemas: Schemas) -> str:
    """What a record owns several of that have a price; empty where it has none."""
    items = {name: schema.get("items", {}) for name, schema in schemas.items()}
    return next((name for name, item in items.items() if "unitPrice" in item.get("properties", ())),
                "")  # fmt: skip


def text_wanted(schemas: Schemas, missing: Sequence[str]) -> str:
    """The argument that takes what is said besides; empty for none."""
    names = [name for name in _TEXTS if name in schemas]
    return next((name for name in names if name in missing or name == "reason"), "")


def _types(schema: Mapping[str, Any]) -> set[str]:
    parts = [schema, *schema.get("anyOf", ())]
    kinds = (part.get("type", ()) for part in parts)
    return {kind for each in kinds for kind in ([each] if isinstance(each, str) else each)}


def _written_day(day: Any, schema: Mapping[str, Any]) -> str | None:
    if day is None:
        return None
    is_instant = schema["format"] == "date-time"
    return iso_instant(start_of(day, NOON)) if is_instant else str(day)
