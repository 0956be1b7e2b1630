"""One value of a record, changed where a list shows it: by the same PATCH as the form's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, request

from app.console import engine, session, wording
from app.console.area import console, page, see_other
from app.console.columns import Column, column_of, key_of
from app.console.form_fields import field_of, suggestions, text_of, value_of, writable
from app.console.language import translated
from app.console.sets import Page, page_of
from app.console.typed import refused_at
from app.container.engine import ask
from app.errors import ApiError, NotFoundError, PreconditionFailedError, ValidationError
from app.http.security import current_caller
from app.odata.model import edm
from app.permissions import scope_of

UPDATE = "update"


def changed_by(set_page: Page, column: Column) -> str | None:
    """The property that a cell of the column is changed by; None where a form is needed.

    A column that names a record is changed by the property that holds its key.
    """
    type_ = set_page.entity_set.type
    name: str | None = column.path
    if column.target is not None:
        navigation = type_.navigation.get(column.path)
        name = key_of(type_, navigation) if navigation is not None else None
    return name if name in dict(writable(set_page, creating=False)) else None


def may_change(set_page: Page) -> bool:
    """Whether the caller may change any record of the set."""
    return scope_of(current_caller(), f"{set_page.entity_set.type.resource}:update") is not None


@console.get("/<path>/<int:key>/cells/<path:column>")
def edit_cell(path: str, key: int, column: str) -> Response:
    set_page = page_of(path)
    name = _property(set_page, column)
    record = _read(set_page, key, name)
    declared = set_page.entity_set.type.properties[name]
    text = text_of(set_page, declared, record.get(name), record.get("currency"))
    return _form(set_page, key, column, record, text)


@console.post("/<path>/<int:key>/cells/<path:column>")
def change_cell(path: str, key: int, column: str) -> Response:
    """Change the value under the version that was shown, and go back to the list."""
    set_page = page_of(path)
    name = _property(set_page, column)
    record = _read(set_page, key, name)
    declared = set_page.entity_set.type.properties[name]
    typed = request.form.get(name, "")
    try:
        value = _value(set_page, declared, typed, record)
        if value != record.get(name):
            version = request.form.get("version") or None
            ask("PATCH", f"{set_page.set_name}({key})", body={name: value}, version=version)
            session.say(
                translated(
                    "%(record)s: %(name)s changed.",
                    record=set_page.name_of(record),
                    name=wording.label(name),
                )
            )
    except ApiError as error:
        return _form(set_page, key, column, record, typed, error)
    return see_other(f"{session.ROOT}/{path}/?{request.form.get('query', '')}".rstrip("?"))


def _property(set_page: Page, path: str) -> str:
    """Raises: NotFoundError, the column has no value that can be changed."""
    column = column_of(set_page, path)
    name = None if column is None else changed_by(set_page, column)
    if name is None:
        raise NotFoundError(translated("There is no such field."))
    return name


def _read(set_page: Page, key: int, name: str) -> dict[str, Any]:
    properties = set_page.entity_set.type.properties
    names = [
        set_page.title,
        name,
        "allowedActions",
        *(["currency"] if "currency" in properties else []),
    ]
    select = ",".join(dict.fromkeys(names))
    record: dict[str, Any] = engine.read(f"{set_page.set_name}({key})", select=select).body
    return record


def _value(set_page: Page, declared: edm.Property, typed: str, record: Mapping[str, Any]) -> Any:
    """Raises: ValidationError, what was typed is no value of the property."""
    with refused_at(declared.name):
        value = value_of(set_page, declared, typed, record.get("currency"))
    if value is None and not declared.nullable:
        raise ValidationError([(declared.name, translated("is required"))])
    return value


def _form(
    set_page: Page, key: int, column: str, record: Mapping[str, Any], text: str,
    error: ApiError | None = None,
) -> Response:  # fmt: skip
    name = _property(set_page, column)
    problem = _problem(set_page, name, record, error)
    actions = record.get("allowedActions") or []
    if UPDATE not in actions and error is None:
        problem = translated("cannot be changed: the record is not yours to change as it stands")
    field = field_of(set_page, name, text, problem, record)
    return page(
        "cell.html",
        problem=error,
        set_page=set_page,
        key=key,
        column=column,
        title=set_page.name_of(record),
        field=field,
        suggestions=suggestions(set_page, [field]),
        version=record.get("@odata.etag", ""),
        query=request.form.get("query", request.query_string.decode()),
    )


def _problem(set_page: Page, name: str, record: Mapping[str, Any], error: ApiError | None) -> str:
    """What is wrong, at the field: of other fields with their names."""
    if error is None:
        return ""
    if isinstance(error, PreconditionFailedError):
        declared = set_page.entity_set.type.properties[name]
        stored = text_of(set_page, declared, record.get(name), record.get("currency"))
        return translated(
            "somebody saved “%(stored)s” here meanwhile: save again to replace it",
            stored=stored,
        )
    problems = engine.problems_of(error)
    return "; ".join(
        text if field in (name, "") else f"{wording.label(field)} {text}"
        for field, text in problems.items()
    )
