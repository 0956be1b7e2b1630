"""Pieces of XML: tags, escaped text, annotations with their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from xml.sax.saxutils import escape

from app.odata.csdl.terms import (
    Annotation,
    EnumMembers,
    Expression,
    NavigationPropertyPath,
    Path,
    PropertyPath,
)

Attribute = str | int | bool | Decimal | None


def open_tag(name: str, **attributes: Attribute) -> str:
    """``<Name A="b">``; what is None is left out."""
    return f"<{name}{_attributes(attributes)}>"


def empty_tag(name: str, **attributes: Attribute) -> str:
    """``<Name A="b"/>``."""
    return f"<{name}{_attributes(attributes)}/>"


def _attributes(attributes: Mapping[str, Attribute]) -> str:
    return "".join(
        f' {name}="{_text(value)}"' for name, value in attributes.items() if value is not None
    )


def _text(value: str | int | bool | Decimal) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    return escape(str(value), {'"': "&quot;", "\n": "&#10;"})


def element(name: str, children: Iterable[str], **attributes: Attribute) -> Iterator[str]:
    """A tag with what is in it, line by line."""
    content = list(children)
    if not content:
        yield empty_tag(name, **attributes)
        return
    yield open_tag(name, **attributes)
    yield from content
    yield f"</{name}>"


def annotation_tags(items: Iterable[Annotation]) -> Iterator[str]:
    """The annotations of an element."""
    for item in items:
        attributes = {"Term": item.term}
        if item.qualifier is not None:
            attributes["Qualifier"] = item.qualifier
        inner = annotation_tags(Annotation(term, value) for term, value in item.notes.items())
        yield from _valued("Annotation", attributes, item.value, inner)


def _valued(
    name: str, attributes: Mapping[str, str], value: Expression, notes: Iterable[str] = ()
) -> Iterator[str]:
    """An element with a value: constants as an attribute, structures as children; its notes."""
    if isinstance(value, Mapping):
        yield from element(name, [*_record(value), *notes], **attributes)
    elif isinstance(value, list | tuple):
        items = [line for item in value for line in _item(item)]
        yield from element(name, [*element("Collection", items), *notes], **attributes)
    else:
        kind, text = _constant(value)
        yield from element(name, notes, **attributes, **{kind: text})


def _record(value: Mapping[str, Expression]) -> Iterator[str]:
    values = [
        line
        for name, item in value.items()
        for line in _valued("PropertyValue", {"Property": name}, item)
    ]
    yield from element("Record", values)


def _item(value: Expression) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _record(value)
        return
    kind, text = _constant(value)
    yield f"<{kind}>{escape(text)}</{kind}>"


def _constant(value: Expression) -> tuple[str, str]:
    """``("Bool", "true")``: the kind of a value that fits into an attribute, and its text."""
    if isinstance(value, EnumMembers):
        return "EnumMember", " ".join(f"{value.type}/{member}" for member in value.members)
    if isinstance(value, Path | PropertyPath | NavigationPropertyPath):
        return type(value).__name__, value.path
    if isinstance(value, bool):
        return "Bool", _text(value)
    if isinstance(value, int):
        return "Int", str(value)
    if isinstance(value, Decimal):
        return "Decimal", _text(value)
    return "String", str(value)
