"""Fields of a record's form: made from the model, typed by people, sent as values of the API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.console import engine, wording
from app.console.language import translated
from app.console.named_codes import UNIT, code_name, code_names, list_of, typed_code
from app.console.numbers import number_text, typed_number
from app.console.property_kinds import INPUTS, Field, kind_of
from app.console.references import find, named, referred_to
from app.console.sets import Page
from app.console.typed import MistypedError, noted_at
from app.container.words import options_of
from app.db.types import iso_instant
from app.money import MOST_DIGITS, digits, written
from app.odata.model import edm
from app.settings import organisation
from app.settings.days import zone
from app.writing.transitions import StateMachine

# A longer text is typed into a larger field.
LONG_TEXT = 500
_HIDDEN = ("allowedActions", "customFields", "externalId")


def fields_of(
    set_page: Page,
    values: Mapping[str, str],
    problems: Mapping[str, str],
    *,
    record: Mapping[str, Any],
    creating: bool,
    stored: Mapping[str, str] | None = None,
) -> tuple[list[Field], list[Field]]:
    """The fields that are shown at once, in their order, and the others."""
    fields = {
        name: _field(
            set_page, name, property_, values.get(name, ""), problems.get(name, ""), record,
            (stored or {}).get(name, "") or ("—" if name in (stored or {}) else ""),
        )
        for name, property_ in writable(set_page, creating=creating)
    }  # fmt: skip
    main = [
        field
        for first in set_page.main
        for name, field in fields.items()
        if name == first or name.startswith(f"{first}.")
    ]
    return main, [field for field in fields.values() if field not in main]


def field_of(
    set_page: Page, name: str, text: str, problem: str, record: Mapping[str, Any]
) -> Field:
    property_ = dict(writable(set_page, creating=False))[name]
    return _field(set_page, name, property_, text, problem, record)


def writable(set_page: Page, *, creating: bool) -> Iterator[tuple[str, edm.Property]]:
    """The properties that a form may have, those inside of others by their path."""
    for name, property_ in set_page.entity_set.type.properties.items():
        if property_.computed or name in _HIDDEN or (property_.immutable and not creating):
            continue
        if isinstance(property_.type, edm.ComplexType):
            for inner, part in property_.type.properties.items():
                yield f"{name}.{inner}", part
        else:
            yield name, property_


def texts_of(set_page: Page, record: Mapping[str, Any]) -> dict[str, str]:
    """What the fields of a known record show."""
    return {
        name: text_of(set_page, property_, known(record, name), record.get("currency"))
        for name, property_ in writable(set_page, creating=False)
    }


def texts_at_first(set_page: Page, query: Mapping[str, str]) -> dict[str, str]:
    """What the fields of a new record show: what the address asks for, or defaults."""
    texts = {}
    for name, property_ in writable(set_page, creating=True):
        text = query.get(name) or set_page.preset.get(name)
        kind = referred_to(set_page.entity_set.type, property_)
        if text and kind and text.isdecimal() and len(text) < LONG_TEXT:
            text = named(kind, int(text[:18]))
        texts[name] = text or text_of(set_page, property_, property_.default)
    return texts


def body_of(
    set_page: Page, form: Mapping[str, str], record: Mapping[str, Any], *, creating: bool
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The properties whose fields differ from what is known, and what cannot be understood."""
    body: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    currency = form.get("currency") or record.get("currency")
    for name, property_ in writable(set_page, creating=creating):
        is_check = kind_of(property_) == "check"
        if name not in form and not is_check:
            continue
        before = None if creating else known(record, name)
        text = form.get(name, "")
        own = record.get("currency")
        if not is_check and text == ("" if creating else text_of(set_page, property_, before, own)):
            continue
        with noted_at(name, problems):
            value = value_of(set_page, property_, text, currency)
            if value != before:
                outer, _, inner = name.partition(".")
                (body.setdefault(outer, {}) if inner else body)[inner or outer] = value
    return body, problems


def value_of(
    set_page: Page, property_: edm.Property, text: str, currency: str | None = None
) -> Any:
    """What was typed as a value of the API.

    Args:
        currency: of the record; that of the organisation where nothing is said of it.
    Raises: NoNumberError, MistypedError.
    """
    text = text.replace("\r\n", "\n")
    holds = kind_of(property_)
    if holds == "check":
        return text == "true"
    if holds == "tags":
        return [item for part in text.split(",") if (item := part.strip())]
    if text.strip() == "":
        return None
    if kind := referred_to(set_page.entity_set.type, property_):
        return find(kind, text)
    if holds in ("amount", "number"):
        return typed_number(text, _places(property_, currency))
    if holds == "whole":
        number = typed_number(text, 0)
        if number != number.to_integral_value():
            raise MistypedError(translated("must be a whole number"))
        return int(number)
    if holds == "moment":
        return _instant(text)
    return typed_code(property_.name, text) if list_of(property_.name) else text


def _places(property_: edm.Property, currency: str | None) -> int | None:
    """The decimals that a number can have; only money has as many as ``MOST_DIGITS``."""
    if property_.scale != MOST_DIGITS:
        return property_.scale
    return digits(currency or organisation().defaults.currency)


def text_of(
    set_page: Page, property_: edm.Property, value: Any, currency: str | None = None
) -> str:
    """A value as its field shows it, an amount with the decimals of its currency."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    if kind_of(property_) == "moment":
        moment = datetime.fromisoformat(str(value)).astimezone(zone())
        return moment.strftime("%Y-%m-%dT%H:%M")
    if isinstance(value, int) and (kind := referred_to(set_page.entity_set.type, property_)):
        return named(kind, value)
    if isinstance(value, Decimal):
        is_amount = property_.currency_property is not None
        return number_text(written(value, currency) if is_amount and currency else value)
    return code_name(property_.name, value) if list_of(property_.name) else str(value)


def known(record: Mapping[str, Any], name: str) -> Any:
    """The value of a property of a record, also of one inside another."""
    outer, _, inner = name.partition(".")
    value = record.get(outer)
    return (value or {}).get(inner) if inner else value


def _field(
    set_page: Page, name: str, property_: edm.Property, text: str, problem: str,
    record: Mapping[str, Any], stored: str = "",
) -> Field:  # fmt: skip
    outer, _, inner = name.rpartition(".")
    label = f"{wording.label(outer)}: {wording.inside(wording.label(inner))}" if outer else ""
    reference = referred_to(set_page.entity_set.type, property_) if not outer else None
    return Field(
        name=name,
        label=label or wording.label(name),
        kind=_kind(property_) if reference is None else "reference",
        value=text,
        options=_options(set_page, name, property_, text, record),
        choices="" if reference is None else reference.set_name.lower(),
        required=property_.required,
        hint=_hint(property_),
        problem=problem,
        stored=stored,
        suggested=list_of(name),
    )


def _options(
    set_page: Page, name: str, property_: edm.Property, text: str, record: Mapping[str, Any]
) -> tuple[str, ...]:
    """What may be chosen: of a state, what a new record may begin in, or a known one go to."""
    service: Any = set_page.entity_set.service
    machine: StateMachine | None = service.machine
    if machine is None or name != set_page.state:
        return options_of(property_)
    prefix = f"{name}:"
    actions = record.get("allowedActions") or ()
    steps = [action.removeprefix(prefix) for action in actions if action.startswith(prefix)]
    return tuple(dict.fromkeys(filter(None, (text, *(steps if record else machine.initial)))))


def suggestions(
    set_page: Page, fields: Iterable[Field], besides: Iterable[str] = ()
) -> dict[str, list[str]]:
    """What may be chosen in the fields, by ``suggested``; the units that records have first."""
    names = {field.suggested for field in fields} - {""}
    used = engine.read(set_page.set_name, apply="groupby((unitCode))").rows if UNIT in names else []
    return {
        name: code_names(name, [row[UNIT] for row in used]) for name in sorted({*names, *besides})
    }


def _kind(property_: edm.Property) -> str:
    if (holds := kind_of(property_)) in INPUTS:
        return INPUTS[holds]
    is_long = (property_.max_length or 0) > LONG_TEXT and property_.name != "website"
    return "long" if is_long else "text"


def _hint(property_: edm.Property) -> str:
    holds = kind_of(property_)
    if holds == "tags":
        return translated("with commas between")
    return zone().key if holds == "moment" else ""


def _instant(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise MistypedError(translated("must be a day and a time")) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone())
    return iso_instant(moment.astimezone(UTC))
