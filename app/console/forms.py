"""Making and changing a record: a form made from the model, sent the way the API is.

Only what was changed is sent, under the ETag of the page, so nobody's work is overwritten; what is
refused comes back with every field as it was typed, and the problem beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from flask import Response, request

from app.console import engine, session, wording
from app.console.area import console, page, see_other
from app.console.sets import Page, page_of
from app.errors import ApiError, ValidationError
from app.odata import edm
from app.permissions import require
from app.security import current_caller

# A longer text is typed into a larger field.
LONG_TEXT = 500
_HIDDEN = ("allowedActions", "customFields", "externalId")


@dataclass(frozen=True)
class Field:
    """A field of a form. ``name`` is that of the property, ``billingAddress.city`` inside one."""

    name: str
    label: str
    kind: str
    value: str
    options: tuple[str, ...] = ()
    required: bool = False
    maximum: int | None = None
    description: str = ""
    problem: str = ""


@console.get("/<path>/new")
def new_record(path: str) -> Response:
    """An empty form."""
    wanted = page_of(path)
    require(current_caller(), f"{wanted.entity_set.type.resource}:create")
    return _form(wanted, None, {}, {})


@console.post("/<path>/new")
def create_record(path: str) -> Response:
    """Make a record."""
    session.check_form()
    wanted = page_of(path)
    try:
        body = _body(wanted, {}, creating=True)
        made = engine.send("POST", wanted.set_name, body).body
    except ApiError as error:
        return _form(wanted, None, {}, engine.problems_of(error), error)
    return see_other(f"{session.ROOT}/{path}/{made['id']}")


@console.get("/<path>/<int:key>/edit")
def edit_record(path: str, key: int) -> Response:
    """The form of a record."""
    wanted = page_of(path)
    require(current_caller(), f"{wanted.entity_set.type.resource}:update")
    return _form(wanted, key, engine.read(f"{wanted.set_name}({key})").body, {})


@console.post("/<path>/<int:key>/edit")
def change_record(path: str, key: int) -> Response:
    """Change what is different in the form."""
    session.check_form()
    wanted = page_of(path)
    known = engine.read(f"{wanted.set_name}({key})").body
    try:
        if body := _body(wanted, known, creating=False):
            version = request.form.get("version") or None
            engine.send("PATCH", f"{wanted.set_name}({key})", body, version)
    except ApiError as error:
        return _form(wanted, key, known, engine.problems_of(error), error)
    return see_other(f"{session.ROOT}/{path}/{key}")


def _form(
    wanted: Page, key: int | None, known: dict[str, Any], problems: dict[str, str],
    error: ApiError | None = None,
) -> Response:  # fmt: skip
    fields = [
        Field(
            name,
            wording.label(name.rpartition(".")[2]),
            _kind(property_),
            _typed(name, _known(known, name) if key is not None else property_.default),
            _options(property_),
            property_.required,
            property_.max_length,
            property_.description,
            problems.get(name, ""),
        )
        for name, property_ in _writable(wanted, creating=key is None)
    ]
    named = {field.name for field in fields}
    return page(
        "form.html",
        200 if error is None else error.status,
        wanted=wanted,
        key=key,
        fields=fields,
        version=request.form.get("version") or known.get("@odata.etag", ""),
        problem=error,
        others=[f"{name} {text}".strip() for name, text in problems.items() if name not in named],
    )


def _writable(wanted: Page, *, creating: bool) -> Iterator[tuple[str, edm.Property]]:
    for name, property_ in wanted.entity_set.type.properties.items():
        if property_.computed or name in _HIDDEN or (property_.immutable and not creating):
            continue
        if isinstance(property_.type, edm.ComplexType):
            for inner, part in property_.type.properties.items():
                yield f"{name}.{inner}", part
        else:
            yield name, property_


def _body(wanted: Page, known: dict[str, Any], *, creating: bool) -> dict[str, Any]:
    """The properties whose fields differ from what is known.

    Raises: ValidationError, with every number that is none.
    """
    body: dict[str, Any] = {}
    problems = []
    for name, property_ in _writable(wanted, creating=creating):
        is_check = property_.type == edm.BOOLEAN
        if name not in request.form and not is_check:
            continue
        before = _known(known, name) if not creating else None
        text = request.form.get(name, "")
        if (not is_check and text == _text(before)) or (creating and text == "" and not is_check):
            continue
        try:
            value = _value(property_, text)
        except (InvalidOperation, ValueError):
            problems.append((name, "must be a number"))
            continue
        if value == before:
            continue
        outer, _, inner = name.partition(".")
        if inner:
            body.setdefault(outer, {})[inner] = value
        else:
            body[name] = value
    if problems:
        raise ValidationError(problems)
    return body


def _value(property_: edm.Property, text: str) -> Any:
    text = text.replace("\r\n", "\n")
    if property_.type == edm.BOOLEAN:
        return text == "true"
    if isinstance(property_.type, edm.CollectionType):
        return [item for part in text.split(",") if (item := part.strip())]
    if text.strip() == "":
        return None
    if property_.type == edm.DECIMAL:
        return Decimal(text.strip())
    if property_.type in (edm.INT32, edm.INT64):
        return int(text)
    if property_.type == edm.DATETIME:
        return text if text.endswith("Z") or "+" in text else f"{text}Z"
    return text


def _known(record: dict[str, Any], name: str) -> Any:
    outer, _, inner = name.partition(".")
    value = record.get(outer)
    return (value or {}).get(inner) if inner else value


def _typed(name: str, value: Any) -> str:
    return request.form.get(name, "") if request.method == "POST" else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _kind(property_: edm.Property) -> str:
    if property_.allowed or isinstance(property_.type, edm.EnumType):
        return "choice"
    if property_.type == edm.BOOLEAN:
        return "check"
    if property_.type == edm.DATE:
        return "date"
    if property_.type in (edm.DECIMAL, edm.INT32, edm.INT64):
        return "number"
    return "long" if (property_.max_length or 0) > LONG_TEXT else "text"


def _options(property_: edm.Property) -> tuple[str, ...]:
    if isinstance(property_.type, edm.EnumType):
        return tuple(property_.type.members)
    return property_.allowed or ()
