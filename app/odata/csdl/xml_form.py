"""``$metadata`` as CSDL XML (OData CSDL XML Representation 4.01)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from xml.sax.saxutils import escape

from app.odata.csdl import annotations as notes
from app.odata.csdl.elements import Element, schema_elements
from app.odata.model import edm

Attribute = str | int | bool | Decimal | None
NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})


# Elements whose annotations stand before what they are made of.
_ANNOTATED_FIRST = ("EnumType", "EntityContainer")
# Attributes with parts are child elements, and these the attributes of each.
_PARTS = {
    "ReferentialConstraint": ("Property", "ReferencedProperty"),
    "NavigationPropertyBinding": ("Path", "Target"),
}


def csdl_xml(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<edmx:Edmx Version="{version}" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
    ]
    for namespace, (alias, uri) in notes.VOCABULARIES.items():
        lines += [
            f'<edmx:Reference Uri="{uri}.xml">',
            # In single quotes: some clients take the first Namespace="..." for the model's own.
            f"<edmx:Include Namespace='{namespace}' Alias='{alias}'/>",
            "</edmx:Reference>",
        ]
    schema = [line for element in schema_elements(container) for line in _element(element)]
    schema += _annotation_tags(notes.of_schema(container))
    xmlns = "http://docs.oasis-open.org/odata/ns/edm"
    lines += [
        "<edmx:DataServices>",
        *_tag("Schema", schema, {"Namespace": container.namespace, "xmlns": xmlns}),
        "</edmx:DataServices>",
    ]
    return "\n".join([*lines, "</edmx:Edmx>", ""])


def _element(element: Element) -> Iterator[str]:
    """An element with all that is in it, line by line."""
    attributes: dict[str, Attribute] = {"Name": element.name}
    if (use := element.type) is not None:
        if element.kind == "EntitySet":
            attributes["EntityType"] = use.name
        else:
            attributes["Type"] = f"Collection({use.name})" if use.is_collection else use.name
        attributes["Nullable"] = False if use.nullable is False else None
    parts: list[str] = []
    for name, value in element.attributes.items():
        if name == "Key" and value is not None:
            parts += _tag("Key", [_empty_tag("PropertyRef", {"Name": key}) for key in value])
        elif name in _PARTS and value is not None:
            parts += (
                _empty_tag(name, dict(zip(_PARTS[name], pair, strict=True)))
                for pair in value.items()
            )
        else:
            attributes[name] = value
    parts += (line for child in element.children for line in _element(child))
    annotations = list(_annotation_tags(element.annotations))
    is_first = element.kind in _ANNOTATED_FIRST
    content = [*annotations, *parts] if is_first else [*parts, *annotations]
    yield from _tag(element.kind, content, attributes)


# --- tags


def _tag(
    name: str, content: Iterable[str], attributes: Mapping[str, Attribute] = NO_ATTRIBUTES
) -> Iterator[str]:
    """A tag with what is in it, line by line."""
    lines = list(content)
    if not lines:
        yield _empty_tag(name, attributes)
        return
    yield f"<{name}{_attributes(attributes)}>"
    yield from lines
    yield f"</{name}>"


def _empty_tag(name: str, attributes: Mapping[str, Attribute]) -> str:
    """``<Name A="b"/>``; what is None is left out."""
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


# --- annotations


def _annotation_tags(items: Iterable[notes.Annotation]) -> Iterator[str]:
    for item in items:
        attributes = {"Term": item.term}
        if item.qualifier is not None:
            attributes["Qualifier"] = item.qualifier
        own = (notes.Annotation(term, value) for term, value in item.notes.items())
        inner = _annotation_tags(own)
        yield from _valued("Annotation", attributes, item.value, inner)


def _valued(
    name: str, attributes: Mapping[str, str], value: notes.Expression, inner: Iterable[str] = ()
) -> Iterator[str]:
    """An element with a value: constants as an attribute, structures as children; its notes."""
    if isinstance(value, Mapping):
        yield from _tag(name, [*_record(value), *inner], attributes)
    elif isinstance(value, list | tuple):
        items = [line for item in value for line in _item(item)]
        yield from _tag(name, [*_tag("Collection", items), *inner], attributes)
    else:
        kind, text = _constant(value)
        yield from _tag(name, inner, {**attributes, kind: text})


def _record(value: Mapping[str, notes.Expression]) -> Iterator[str]:
    values = [
        line
        for name, item in value.items()
        for line in _valued("PropertyValue", {"Property": name}, item)
    ]
    yield from _tag("Record", values)


def _item(value: notes.Expression) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _record(value)
        return
    kind, text = _constant(value)
    yield f"<{kind}>{escape(text)}</{kind}>"


def _constant(value: notes.Expression) -> tuple[str, str]:
    """``("Bool", "true")``: the kind of a value that fits into an attribute, and its text."""
    if isinstance(value, notes.EnumMembers):
        return "EnumMember", " ".join(f"{value.type}/{member}" for member in value.members)
    if isinstance(value, notes.Path):
        return type(value).__name__, value.path
    if isinstance(value, bool):
        return "Bool", _text(value)
    if isinstance(value, int):
        return "Int", str(value)
    if isinstance(value, Decimal):
        return "Decimal", _text(value)
    return "String", str(value)
