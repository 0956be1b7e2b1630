"""The changes that the assistant can propose, made from what is declared (docs/adr/0049).

One that makes and one that changes an entity of each set, from the entity data model; one for each
operation, from its declaration; and two that are no operation of the business: a note on a record,
and the draft of a mail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from app.ai.context import entity_type, read_context, states_of
from app.ai.free_text import FreeText
from app.ai.lexicon import ENGLISH, KINDS, Message, lexicon_of
from app.ai.mails import draft_mail
from app.ai.parts import Proposal, RecordContext
from app.ai.values import Filling, lines_of, text_wanted
from app.ai.wishes import CHANGING, Wish, head_of, is_said
from app.ai.wording import instant_text, label, value_text
from app.bi.periods.reader import is_one
from app.bi.plans.entities import spoken
from app.bi.words.speech import capital
from app.container import engine
from app.container.declared import DECLARED
from app.container.model import container, referred_by, title_of
from app.container.words import label_text, names_of_words, options_of, word_text
from app.db.types import json_text
from app.errors import InvalidStateError, ValidationError, refuse_any
from app.events import entity_url
from app.http import schema_bounds as validate, schema_fields as fields
from app.http.areas import load
from app.http.json_body import parse_json
from app.http.security import current_caller
from app.localisation.catalogue import BUTTON, SOURCE, marked, text_as, text_in
from app.odata.model import edm
from app.odata.names import apart, snake
from app.odata.operations.calls import body_arguments
from app.odata.payload.reader import BodyReader
from app.odata.writing.problems import Kind, entity_problems
from app.openapi.odata_schemas import (
    Schema,
    complex_schema,
    is_writable,
    parameters_schema,
    written_schema,
)
from app.operations.declaration import Operation
from app.operations.wire_types import members_of, parameters_of
from app.permissions import allowed
from app.settings.days import today
from app.tickets.comments import create_comment
from app.writing.operations import CONDITIONS
from app.writing.services import SERVICES
from app.writing.transitions import PATCH

Arguments = Mapping[str, Any]
# Of the record that a tool is used on.
KEY: Schema = {"type": "integer", "minimum": 1}
CREATE = marked("Create the %(kind)s")
CREATE_NAMED = marked("Create the %(kind)s “%(title)s”")
NEEDS_VALUES = marked("Say also: %(names)s.")
NO_TASK = marked("Say what the task is, such as: create a task to call Eva tomorrow.")
CHANGE = marked("Change the %(property)s of %(record)s to %(state)s")
_FOR = marked("for")
_INSTANT = "Edm.DateTimeOffset"
_NOTED = marked("Add to %(record)s the note: %(text)s")
_DRAFTED = marked("Draft a mail to %(to)s: %(subject)s")
_LONGEST_SUMMARY = 480
_COMPONENTS = "#/components/schemas/"
_LONGEST_STATE = 3
# States that want a reason -> the property that takes it.
_REASONS: Mapping[str, str] = {"ClosedLost": "lostReason", "Disqualified": "disqualifyReason"}
# Types that take notes -> the column that notes are appended to; a ticket has comments instead.
NOTED: Mapping[str, str] = {
    "Client": "notes", "Contact": "notes", "Invoice": "internal_notes", "Ticket": "",
}  # fmt: skip


class Tool(ABC):
    """A change that can be proposed; it is done when the caller confirms it."""

    name: str
    description: str
    # The type of the record that it is used on, and that of which its arguments are values.
    record: str | None = None
    values_of: str = ""
    # The section of the lexicons whose words lead to the free text that it has.
    kind = ""
    # Whether it is wanted only where a message has a value for it.
    needs_values = False

    @property
    def is_of_one(self) -> bool:
        """Whether the id of the record says which one that is."""
        return True

    @property
    def needs_record(self) -> bool:
        """Whether it is used on a record."""
        return self.record is not None or self.kind in ("note", "mail")

    @property
    @abstractmethod
    def wish(self) -> Wish:
        """How the caller's message asks for it."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The JSON Schema of its arguments."""

    def rights(self, arguments: Arguments) -> Sequence[str]:
        """The permissions that it needs, all of them, as far as no record is looked at."""
        return ()

    @abstractmethod
    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        """What would be done, in words of a language.

        Args:
            sentences: those in which the caller asks for it; None where all is from his words.
        Raises: an ApiError, it could not be done.
        """

    @abstractmethod
    def run(self, arguments: Arguments) -> dict[str, Any]:
        """Do it, as the caller; returns what came of it."""

    # --- what a message says of it

    def may_be(self, clause: Message, entity: str) -> bool:
        """Whether a clause may mean it that is said beside a record of a type."""
        return self.is_of_one and self.record is not None and entity in ("", self.record)

    def is_meant(self, free_text: FreeText, strength: int) -> bool:
        """Whether what a message says before a text is enough to want it.

        Args:
            strength: how many words want it.
        """
        return strength > 1 or free_text.is_led or free_text.refers or bool(free_text.name)

    @abstractmethod
    def fill(self, filling: Filling) -> None:
        """Read what a message says of its arguments."""

    def complete(self, filling: Filling) -> None:
        """Add what goes without saying, such as which record is meant."""
        filling.read_keys(self.record)

    def assume(self, filling: Filling) -> None:
        """Add what is most likely, where it is clear what is wanted."""
        return

    def missing(self, values: Arguments) -> list[str]:
        """The arguments that it needs besides."""
        required = self.schema.get("required", ())
        return [name for name in self.schema["properties"]
                if name in required and name not in values]  # fmt: skip

    def wanted(self, names: Sequence[str], values: Arguments, language: str) -> str:
        """What to say of arguments that miss, with what they can be."""
        return text_in(language, NEEDS_VALUES, names=", ".join(
            f"{label(name.removesuffix('Id'), language)} ({known})" if known
            else label(name.removesuffix("Id"), language)
            for name in names for known in [self.choices(name, language)]
        ))  # fmt: skip

    def choices(self, name: str, language: str) -> str:
        """The words that an argument can be; empty where it is no choice."""
        properties = entity_type(self.values_of).properties if self.values_of else {}
        options = options_of(properties[name]) if name in properties else ()
        # "Other" wants a text besides, which is a person's to write.
        return ", ".join(word_text(each, language) for each in options if each != "Other")

    def unclear(self, filling: Filling) -> str | None:
        """What to say where a message has no value; None where it does not want it then."""
        return None


@cache
def tools() -> Mapping[str, Tool]:
    """The tools by their names, made at the first call."""
    return {tool.name: tool for tool in _tools()}


def _tools() -> Iterator[Tool]:
    for home in container().sets.values():
        if home.service is not None and home.insertable:
            yield CreateTool(home)
        if home.service is not None and home.updatable:
            yield UpdateTool(home)
    proposed = (each for each in DECLARED if each.changes and each.proposed)
    yield from map(OperationTool, proposed)
    yield NoteTool()
    yield MailTool()


def proposal_of(
    tool: Tool, arguments: Arguments, sentences: Sequence[str] | None = None, language: str = SOURCE
) -> Proposal:
    """The proposal of a change, with what would be done in a sentence.

    Raises: an ApiError, it could not be done.
    """
    summary = " ".join(tool.check(arguments, sentences, language).split())
    return Proposal(tool.name, short_sentence(summary), dict(arguments))


def short_sentence(text: str) -> str:
    """A summary as a sentence: a name may end with a dot."""
    cut = f"{text[:_LONGEST_SUMMARY]}\N{HORIZONTAL ELLIPSIS}"
    whole = text if len(text) <= _LONGEST_SUMMARY else cut
    return f"{whole.removesuffix('.')}."


def may_propose(tool: Tool, arguments: Arguments) -> bool:
    """Whether the caller has the rights, as far as no record is looked at."""
    caller = current_caller()
    return all(allowed(caller, right) for right in ("ai:act", *tool.rights(arguments)))


# --- entities, from the entity data model


class _EntityTool(Tool):
    """Writes an entity of a set; ``action`` is what the service is asked for."""

    action = ""

    def __init__(self, home: edm.EntitySet) -> None:
        self._home = home
        self.entity = self.values_of = home.type.name
        self.name = f"{self.action}_{snake(self.entity)}"

    def rights(self, arguments: Arguments) -> Sequence[str]:
        service = self._home.service
        assert isinstance(service, edm.Guarded)
        return service.needed_rights(self.action)

    def _refuse_wrong(self, values: Arguments, kind: Kind, key: int | None = None) -> None:
        """Refuse what the service would refuse of a body.

        Raises: ValidationError, with every value that is wrong.
        """
        if not values:
            raise ValidationError([("", "There must be something to write.")])
        model = container()
        wire_values = parse_json(json_text(values).encode())
        reader = BodyReader(model)
        body = reader.entity(wire_values, self._home.type)
        reader.problems.raise_any()
        refuse_any(entity_problems(model, self._home, body, kind, key=key))


class CreateTool(_EntityTool):
    """Makes an entity of a set: a POST to it, asked for by the nouns of the type."""

    action = "create"

    def __init__(self, home: edm.EntitySet) -> None:
        super().__init__(home)
        self.description = f"Make a new {spoken(self.entity)}. {home.description}"
        name = snake(self.entity)
        self.kind = name if lexicon_of(ENGLISH).list_of(f"{name}.links") else ""
        self.needs_values = not self.kind

    @cached_property
    def wish(self) -> Wish:
        """By what such records are called; those that have words of their own by these, too."""
        return Wish("create", snake(self.entity), makes=self.entity)

    @cached_property
    def schema(self) -> Schema:
        return body_schema(self._home.type, creating=True)

    def may_be(self, clause: Message, entity: str) -> bool:
        """It makes the one that is named first."""
        start, end = next(clause.places(KINDS), (0, 0))
        is_first = end > 0 and clause.value(KINDS, start)[1] == self.entity
        return is_first and is_one(clause.tokens[end - 1])

    def is_meant(self, free_text: FreeText, strength: int) -> bool:
        return strength > 1 or bool(free_text.text)

    def fill(self, filling: Filling) -> None:
        title = title_of(self.entity)
        if not self.kind:
            filling.read_properties()
            filling.read_new()
            filling.read_address()
            filling.read_worth()
        elif filling.free_text is not None:
            filling.read_said(title)
            filling.read_due("dueAt")
            if text := filling.values.get(title):
                longest = self.schema["properties"][title]["maxLength"]
                filling.values[title] = capital(text)[:longest]

    def complete(self, filling: Filling) -> None:
        """What a new record is about."""
        if self.kind and filling.record is not None:
            about = {"relatedType": filling.record.entity, "relatedId": filling.record.key}
            filling.values |= about

    def missing(self, values: Arguments) -> list[str]:
        """A line that is spoken of needs its text and its price."""
        return [*super().missing(values), *self._of_line(values)]

    def _of_line(self, values: Arguments) -> list[str]:
        lines = values.get(lines_of(self.schema["properties"]), ())
        return [name for line in lines for name in ("description", "unitPrice") if name not in line]

    def wanted(self, names: Sequence[str], values: Arguments, language: str) -> str:
        return text_in(language, NO_TASK) if self.kind else super().wanted(names, values, language)

    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        self._refuse_wrong(arguments, "creation")
        title = title_of(self.entity)
        rest = {name: value for name, value in arguments.items() if name != title}
        kind = label(self.entity, language)
        named = arguments.get(title)
        what = text_in(language, CREATE_NAMED if named else CREATE, kind=kind, title=named)
        described = described_values(rest, language, self._home.type)
        return ", ".join((what, *(f"{name} {value}" for name, value in described)))

    def run(self, arguments: Arguments) -> dict[str, Any]:
        created = engine.ask("POST", self._home.name, body=dict(arguments)).body
        return made_of(self.entity, created["id"])


class UpdateTool(_EntityTool):
    """Changes properties of an entity: a PATCH; the caller must ask for each of them."""

    action = "update"
    needs_values = True

    def __init__(self, home: edm.EntitySet) -> None:
        super().__init__(home)
        self.record, self.state = self.entity, state_property(self.entity)
        self.description = f"Change a {spoken(self.entity)}: what is given, and nothing else."

    @cached_property
    def imperatives(self) -> Mapping[str, str]:
        """What makes it what it is then: ``close`` -> ``Closed``, ``qualify`` -> ``Qualified``."""
        ended = [each for each in states_of(self.entity, self.state) if each.endswith("ed")]
        return {form: state for state in ended for word in [state.lower()]
                for form in (word[:-1], word[:-2], f"{word[:-3]}y")}  # fmt: skip

    @cached_property
    def wish(self) -> Wish:
        """By the record, its properties and its states; ``close`` makes it ``Closed``."""
        states = states_of(self.entity, self.state)
        heads = {head_of(prop.name) for prop in writable(self._home.type, creating=False)}
        return Wish(
            "update", "raise", "lower",
            objects=(*map(apart, states), *sorted(heads)),
            alone=self.imperatives,
            record=self.entity,
        )  # fmt: skip

    @cached_property
    def schema(self) -> Schema:
        shape = body_schema(self._home.type, creating=False)
        properties = {"id": KEY, **shape["properties"]}
        return {**shape, "properties": properties, "required": ["id"]}

    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        context = record_of(self.entity, arguments.get("id"))
        values = _without(arguments, "id")
        if sentences is not None:  # what a model wrote
            self._refuse_wrong(values, "change", context.key)
        state = self.state
        refuse_any(
            (name, "is nothing that the user's message asks to change")
            for name, value in values.items()
            if sentences is not None and name != state and not is_said(name, value, sentences)
        )
        if state in values:
            require_possible(context, state, values[state], language, is_alone=len(values) == 1)
        (name, value), *more = described_values(values, language, self._home.type)
        first = text_in(language, CHANGE,
                        property=name, record=context.title, state=value)  # fmt: skip
        return ", ".join((first, *(f"{name}: {value}" for name, value in more)))

    def fill(self, filling: Filling) -> None:
        filling.read_properties()
        filling.read_raised()
        filling.read_states(self.state, self.imperatives)
        filling.read_number()
        filling.read_reference()

    def missing(self, values: Arguments) -> list[str]:
        """A state that wants a reason needs that, too."""
        reason = _REASONS.get(str(values.get(self.state)), "")
        return [*super().missing(values), *([reason] if reason and reason not in values else [])]

    def wanted(self, names: Sequence[str], values: Arguments, language: str) -> str:
        if self.state not in values:
            return super().wanted(names, values, language)
        return text_in(
            language, marked("Say why, such as: mark it as %(state)s because of %(reasons)s."),
            state=word_text(values[self.state], language),
            reasons=self.choices(names[0], language),
        )  # fmt: skip

    def unclear(self, filling: Filling) -> str | None:
        """That there is no such state, and which ones there are; what a property is to be."""
        message, language = filling.message, filling.language
        names = filling.names - {self.state}
        if names and message.has(*CHANGING) and "?" not in message.text:
            return self.wanted(sorted(names), {}, language)
        places = [end for _, end in message.places("update.links")]
        text = message.written(places[-1]).strip(" .!") if places else ""
        is_word = text.replace(" ", "").isalpha() and len(text.split()) <= _LONGEST_STATE
        states = states_of(self.entity, self.state)
        if not states or not is_word:
            return None
        return text_in(
            language, marked("%(text)s is no %(property)s. There are: %(states)s."),
            text=text, property=label(self.state, language),
            states=", ".join(word_text(each, language) for each in states),
        )  # fmt: skip

    def run(self, arguments: Arguments) -> dict[str, Any]:
        key = arguments["id"]
        engine.ask("PATCH", f"{self._home.name}({key})", body=_without(arguments, "id"))
        return made_of(self.entity, key)


def _without(arguments: Arguments, *names: str) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in names}


# --- operations, from their declarations


class OperationTool(Tool):
    """Does an operation on a record: a POST to the action; it has the name of the view of REST."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.name = operation.run.__name__
        self.description = " ".join(operation.description.replace("`", "").split())
        self.label = operation.button.label if operation.button else label_text(operation.name)
        self.record = operation.bound_to
        # Arguments that begin with an amount of the record -> its property.
        self.usual = operation.button.fills if operation.button else {}
        self.values_of = operation.returns or operation.bound_to or ""

    @cached_property
    def wish(self) -> Wish:
        """By the words of its name, and by those that its declaration has besides."""
        operation = self.operation
        return Wish(
            self.name,
            phrases=(apart(operation.name),),
            asked_by=operation.asked_by,
            record=operation.bound_to,
        )

    @cached_property
    def schema(self) -> Schema:
        """Its parameters, and the id of the record; of one within another that of this, too."""
        shape = parameters_schema(container(), self._in_odata.parameters)
        properties = {**dict.fromkeys(self._keys, KEY), **inlined(shape["properties"])}
        return {
            "type": "object", "properties": properties, "additionalProperties": False,
            "required": [*self._keys, *shape.get("required", [])],
        }  # fmt: skip

    def rights(self, arguments: Arguments) -> Sequence[str]:
        return self.operation.permissions

    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        refuse_any(
            (key, "must be the id of a record")
            for key in self._keys
            if not isinstance(arguments.get(key), int)
        )
        parameters = _without(arguments, *self._keys)
        values = body_arguments(self._in_odata, parse_json(json_text(parameters).encode()))
        if self._in_odata.check is not None:
            self._in_odata.check(values)
        what = text_as(language, BUTTON, self.label)
        if self.operation.bound_to is not None:
            what += f" ({self._title(self.operation.bound_to, arguments, what, language)})"
        more = ", ".join(
            f"{name} {value}"
            for name, value in described_values(
                parameters, language, entity_type(self.values_of) if self.values_of else None,
                labels=self.labels, other=self.record,
            )
        )  # fmt: skip
        return f"{what}: {more}" if more else what

    def may_be(self, clause: Message, entity: str) -> bool:
        """One on a record within another is said beside that, by what it is called."""
        if self._owner is None:
            return super().may_be(clause, entity)
        return entity == self._owner[0] and self.record in clause.kinds

    def fill(self, filling: Filling) -> None:
        filling.read_properties()
        filling.read_flags()
        if self._owner is not None and filling.record is not None:
            filling.read_one_of(self._possible(filling.record))
        for name in self.schema["required"]:
            if self.schema["properties"][name].get("type") == "number":
                filling.read_amount(name)

    def complete(self, filling: Filling) -> None:
        super().complete(filling)
        if self._owner is not None and filling.record is not None:
            filling.values[self._keys[0]] = filling.record.key
        if name := text_wanted(self.schema["properties"], self.schema["required"]):
            filling.read_text(name)
        if "date" in self.schema["required"]:
            filling.read_day("date")

    def _possible(self, owner: RecordContext) -> Sequence[Mapping[str, Any]]:
        """The records within another on which it is possible by their states."""
        assert self._owner is not None and self.record is not None
        conditions = CONDITIONS.get(self.record, ())
        states = {state for each in conditions if each.name == self.operation.action
                  for state in each.states or ()}  # fmt: skip
        rows = engine.read_many(f"{owner.path}/{self._owner[1]}")
        return [row for row in rows if not states or row["status"] in states]

    def wanted(self, names: Sequence[str], values: Arguments, language: str) -> str:
        called = [str(self.record) if name == "id" else name for name in names]
        return super().wanted(called, values, language)

    def assume(self, filling: Filling) -> None:
        """Amounts are those of the record."""
        record = filling.record
        for name, path in self.usual.items():
            if record is not None and name not in filling.all:
                filling.values[name] = engine.read_one(record.path, select=path)[path]

    def run(self, arguments: Arguments) -> dict[str, Any]:
        operation = self.operation
        path = f"{self._path(arguments)}{container().namespace}.{operation.name}"
        answer = engine.ask("POST", path, body=_without(arguments, *self._keys)).body
        if operation.location and operation.returns and isinstance(answer, Mapping):
            return made_of(operation.returns, answer["id"])
        if operation.bound_to is None:
            return dict(answer or {})
        return made_of(operation.bound_to, arguments["id"])

    @cached_property
    def _in_odata(self) -> edm.Operation:
        about = (self.operation.name, self.operation.bound_to)
        return next(each for each in container().operations if (each.name, each.bound_to) == about)

    @cached_property
    def _owner(self) -> tuple[str, str] | None:
        """The type that has the records within it, where they have no set, and the navigation."""
        bound_to = self.operation.bound_to
        within = container().containers_of(entity_type(bound_to)) if bound_to else ()
        return (within[0][0].name, within[0][1].name) if within else None

    @property
    def is_of_one(self) -> bool:
        return self._owner is None

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The arguments that say which record is meant."""
        if self.operation.bound_to is None:
            return ()
        owner = self._owner
        return ("id",) if owner is None else (f"{owner[0][0].lower()}{owner[0][1:]}Id", "id")

    def _path(self, arguments: Arguments) -> str:
        """The address of the record with a slash; empty for an operation on none."""
        bound_to, sets = self.operation.bound_to, container().set_of_type
        if bound_to is None:
            return ""
        if self._owner is None:
            return f"{sets[bound_to].name}({arguments['id']})/"
        (entity, navigation), key = self._owner, arguments[self._keys[0]]
        return f"{sets[entity].name}({key})/{navigation}({arguments['id']})/"

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """What its declaration calls arguments, as forms do."""
        schema = self.operation.arguments
        fields_of = {} if schema is None else members_of(schema)
        return {name: each.metadata["label"] for name, each in fields_of.items()
                if "label" in each.metadata}  # fmt: skip

    def _title(self, bound_to: str, arguments: Arguments, what: str, language: str) -> str:
        """The name of the record, on which it is possible.

        Raises: NotFoundError, none that the caller may read; InvalidStateError.
        """
        operation, properties = self.operation, entity_type(bound_to).properties
        unnamed = f"{bound_to} {arguments['id']}"
        if operation.binds_hidden:  # it cannot be read
            return unnamed
        title = title_of(bound_to) or "number"
        is_told = operation.action is not None and "allowedActions" in properties
        names = ["id", title, *(["allowedActions"] if is_told else [])]
        row = engine.read_one(self._path(arguments).rstrip("/"), select=",".join(names))
        name = str(row[title] or unnamed)
        if is_told and operation.action not in row["allowedActions"]:
            text = marked("%(record)s as it is does not allow: %(step)s.")
            raise InvalidStateError(text_in(language, text, record=name, step=what))
        return name


# --- a note on a record, and the draft of a mail


class NoteSchema(fields.Schema):
    """A note on a record."""

    type = fields.String(required=True, validate=validate.OneOf(tuple(NOTED)))
    id = fields.Integer(required=True, validate=validate.RECORD_KEY)
    text = fields.String(required=True, validate=validate.Length(1, 4000))


class MailSchema(fields.Schema):
    """A mail to be sent by a person."""

    to = fields.Email(required=True)
    subject = fields.String(required=True, validate=validate.Length(1, 200))
    body = fields.String(required=True, validate=validate.Length(1, 8000))


class NoteTool(Tool):
    """Adds a note to what is there: an update would replace it."""

    name = "add_note"
    description = "Add a note to a record."
    kind = "note"

    @cached_property
    def wish(self) -> Wish:
        return Wish("note")

    @cached_property
    def schema(self) -> Schema:
        return arguments_schema(NoteSchema)

    def rights(self, arguments: Arguments) -> Sequence[str]:
        entity = str(arguments.get("type"))
        return SERVICES[entity].needed_rights("update") if entity in NOTED else ()

    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        note = load(NoteSchema(), arguments)
        title = record_of(note["type"], note["id"]).title
        return text_in(language, _NOTED, record=title, text=note["text"])

    def fill(self, filling: Filling) -> None:
        filling.read_said("text")

    def complete(self, filling: Filling) -> None:
        record = filling.record
        if record is not None and record.entity not in NOTED:
            text = marked("I cannot add notes to records of the type %(type)s.")
            kind = label(record.entity, filling.language)
            raise InvalidStateError(text_in(filling.language, text, type=kind))
        if record is not None:
            filling.values |= {"type": record.entity, "id": record.key}

    def run(self, arguments: Arguments) -> dict[str, Any]:
        """A line in the notes, or an internal comment."""
        note = load(NoteSchema(), arguments)
        entity, key, text = note["type"], note["id"], note["text"]
        if entity == "Ticket":
            create_comment(key, body=text, is_internal=True)
            return made_of(entity, key)
        column = NOTED[entity]
        service = SERVICES[entity]
        # Two who add a note at the same time add two.
        present = getattr(service.stored(key), column)
        line = f"{today().isoformat()}: {text}"
        service.update(key, {column: f"{present}\n{line}" if present else line})
        return made_of(entity, key)


class MailTool(Tool):
    """The text, and a link that opens it in a mail program: sending it is a person's.

    It changes nothing, and needs no right; whom it goes to is looked at where it is proposed.
    """

    name = "draft_mail"
    description = "Draft the text of a mail; a person sends it."
    kind = "mail"

    @cached_property
    def wish(self) -> Wish:
        return Wish("mail", takes_address=True)

    @cached_property
    def schema(self) -> Schema:
        return arguments_schema(MailSchema)

    def check(
        self, arguments: Arguments, sentences: Sequence[str] | None, language: str = SOURCE
    ) -> str:
        mail = load(MailSchema(), arguments)
        return text_in(language, _DRAFTED, to=mail["to"], subject=mail["subject"])

    def fill(self, filling: Filling) -> None:
        """What it says is written where it is known whom it goes to."""

    def complete(self, filling: Filling) -> None:
        record, free_text = filling.record, filling.free_text
        if record is not None and free_text is not None:
            code = filling.message.lexicon.code
            filling.values, filling.remark = draft_mail(record, free_text, code, filling.language)

    def run(self, arguments: Arguments) -> dict[str, Any]:
        to, subject, body = arguments["to"], arguments["subject"], arguments["body"]
        link = f"mailto:{quote(to)}?subject={quote(subject)}&body={quote(body)}"
        return {"to": to, "subject": subject, "body": body, "url": link}


# --- what all of them need


def record_of(entity: str, key: Any) -> RecordContext:
    """The record that is meant, read as the caller.

    Raises: ValidationError, NotFoundError.
    """
    if not isinstance(key, int) or not 0 < key < 2**63:
        raise ValidationError([("id", "must be the id of a record")])
    context = read_context({"module": entity, "entityId": key})
    assert isinstance(context, RecordContext)
    return context


def made_of(entity: str, key: int) -> dict[str, Any]:
    """A record, as what came of a change."""
    return {"type": entity, "id": key, "url": entity_url(entity, key)}


def described_values(
    values: Arguments,
    language: str,
    type_: edm.EntityType | None = None,
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    other: str | None = None,
) -> Iterator[tuple[str, str]]:
    """Names and values in words; what refers to a record has the name of this.

    Args:
        type_: whose properties they are.
        labels: what some are called, where that is not by the property.
        other: the type of what an argument refers to that is no property.
    Raises: NotFoundError, the caller may not read what is referred to.
    """
    for name, value in values.items():
        stem = name.removesuffix("Id")
        if f"{name.removesuffix('Type')}Id" in values and name.endswith("Type"):
            continue  # told with the id beside it
        kind = values.get(f"{stem}Type")
        prop = None if type_ is None else type_.properties.get(name)
        if type_ is None or prop is None:
            target = kind or other
        else:
            target = kind or referred_by(type_).get(prop.attribute)
        called = label(name if target is None else stem, language)
        if name in labels:
            called = text_in(language, labels[name])
            called = called.lower() if language == SOURCE else called
        if prop is not None and prop.type.name == _INSTANT and value:
            # "Due at" is told with a day.
            called = f"{called.removesuffix(' at')} on" if language == SOURCE else called
            yield f"{called[:1].lower()}{called[1:]}", instant_text(value, language)
        elif stem == name or target is None or value is None:
            is_word = value in options_of(prop) if prop else name in names_of_words()
            is_word = is_word and isinstance(value, str)
            text = word_text(value, language) if is_word else value_text(value, language)
            yield called, text
        else:
            named = text_in(language, _FOR) if kind else called
            yield named, _title_of(target, value)


def _title_of(entity: str, key: Any) -> str:
    """The name of a record, or of a colleague."""
    if entity == "User" and isinstance(key, int):
        return str(engine.read_one(f"Users({key})", select="displayName")["displayName"])
    return record_of(entity, key).title


def state_property(entity: str) -> str:
    """The property that the state machine of a type moves."""
    machine = SERVICES[entity].machine if entity in SERVICES else None
    return "status" if machine is None else machine.attribute


def require_possible(
    record: RecordContext, name: str, target: str, language: str, *, is_alone: bool
) -> None:
    """Check that the record may become ``target`` from what it is now.

    Args:
        is_alone: whether nothing else is to change.
    Raises: InvalidStateError, naming what may follow, or that it is so already.
    """
    service = SERVICES[record.entity]
    source = engine.read_one(record.path, select=name)[name]
    if source == target and is_alone:
        raise InvalidStateError(text_in(
            language, marked("%(record)s is %(state)s already."),
            record=record.title, state=word_text(source, language),
        ))  # fmt: skip
    machine = service.machine
    is_moved = machine is not None and machine.attribute == name and source != target
    if machine is not None and is_moved and machine.find(source, target, PATCH) is None:
        states = [word_text(each, language) for each in machine.targets(source, PATCH)]
        raise InvalidStateError(text_in(
            language, marked("%(record)s is %(state)s. From there follows: %(states)s."),
            record=record.title, state=word_text(source, language),
            states=", ".join(states) or text_in(language, marked("none")),
        ))  # fmt: skip


def writable(type_: edm.EntityType, *, creating: bool) -> Iterator[edm.Property]:
    """What a body may have, but for the key."""
    for prop in type_.properties.values():
        if prop.name not in type_.key and is_writable(type_, prop, creating=creating):
            yield prop


def arguments_schema(schema: type[fields.Schema]) -> Schema:
    return parameters_schema(container(), parameters_of(schema, of_action=True))


def body_schema(type_: edm.EntityType, *, creating: bool) -> Schema:
    """The schema of a body, of the entity alone and what it owns."""
    shape = written_schema(container(), type_, creating=creating)
    names = [prop.name for prop in writable(type_, creating=creating)]
    names += [each.name for each in type_.navigation.values() if each.owned]
    properties = {name: inlined(shape["properties"][name]) for name in names}
    required = shape.get("required", [])
    return {
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": False,
    }  # fmt: skip


def inlined(schema: Any) -> Any:
    """A schema with those that it refers to in their places: a model sees no other document."""
    if isinstance(schema, list):
        return [inlined(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" not in schema:
        return {name: inlined(member) for name, member in schema.items()}
    model = container()
    name = schema["$ref"].removeprefix(f"{_COMPONENTS}{model.namespace}.")
    if name in model.enum_types:
        return {"type": "string", "enum": list(model.enum_types[name].members)}
    if name in model.complex_types:
        return inlined(complex_schema(model, model.complex_types[name]))
    return body_schema(model.types[name.removesuffix("-create")], creating=True)
