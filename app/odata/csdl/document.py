"""``$metadata`` and the service document: made once for each form, then only sent.

Source: OData CSDL XML and CSDL JSON Representation 4.01.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape

from flask import Response

from app.db.types import json_text
from app.odata.csdl import annotations as notes
from app.odata.csdl.elements import Element, TypeUse, is_listed, schema_elements
from app.odata.model import edm
from app.odata.protocol.etags import parse_precondition
from app.odata.protocol.negotiation import Format, Version

# A model changes with a release only; a client asks again after this long, by its tag.
MAX_AGE_SECONDS = 300


@dataclass(frozen=True)
class Document:
    """A document as it is sent; ``etag`` is strong, because the bytes are always the same."""

    body: bytes
    content_type: str
    etag: str

    def answer(self, if_none_match: str | None) -> Response:
        """The document, or 304 where the client has it already."""
        known = parse_precondition(if_none_match)
        if known is not None and (known.any or self.etag.strip('"') in known.tags):
            response = Response(status=304)
        else:
            response = Response(self.body, content_type=self.content_type)
        response.headers["ETag"] = self.etag
        response.headers["Cache-Control"] = f"private, max-age={MAX_AGE_SECONDS}"
        return response


@lru_cache(maxsize=32)
def metadata(container: edm.EntityContainer, version: Version, *, as_json: bool) -> Document:
    """The model of the service (Protocol 11.1.2).

    Args:
        version: what ``OData-MaxVersion`` allows; 4.0 when the client sent none.
    """
    text = csdl_json(container, version) if as_json else csdl_xml(container, version)
    body = text.encode()
    digest = hashlib.sha256(body).hexdigest()[:32]
    media_type = "application/json" if as_json else "application/xml"
    return Document(body, media_type, f'"{digest}"')


def service_document(container: edm.EntityContainer, root: str, form: Format) -> bytes:
    """What the service has at its top: sets and singletons (Protocol 11.1.1; JSON Format 5).

    Args:
        root: the address of the service, with a slash at its end.
    """
    context = {form.control("context"): f"{root}$metadata"} if form.metadata != "none" else {}
    functions = [name for name, overloads in container.imports.items() if is_listed(overloads)]
    kinds = {
        "EntitySet": container.sets,
        "Singleton": container.singletons,
        "FunctionImport": functions,
    }
    value = [
        {"name": name, "kind": kind, "url": name} for kind, names in kinds.items() for name in names
    ]
    return json_text({**context, "value": value}).encode()


# --- CSDL JSON

# Elements that say by ``$Kind`` what they are; what the others are follows from their place.
_WITH_KIND = frozenset((
    "EnumType", "TypeDefinition", "ComplexType", "EntityType", "NavigationProperty", "Action",
    "Function", "EntityContainer",
))  # fmt: skip


def csdl_json(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    schema: dict[str, Any] = {}
    _add(schema, schema_elements(container))
    document = {
        "$Version": version,
        "$Reference": {
            f"{uri}.json": {"$Include": [{"$Namespace": namespace, "$Alias": alias}]}
            for namespace, (alias, uri) in notes.VOCABULARIES.items()
        },
        "$EntityContainer": f"{container.namespace}.{container.name}",
        container.namespace: schema | _annotations(notes.of_schema(container)),
    }
    return json_text(document)


def _add(parent: dict[str, Any], children: Iterable[Element]) -> None:
    """Put elements into the one that they are part of; operations of one name are a list."""
    for child in children:
        match child.kind:
            case "Member":
                parent[str(child.name)] = child.attributes["Value"]
            case "Parameter":
                parameter = {"$Name": child.name, **_members(child)}
                parent.setdefault("$Parameter", []).append(parameter)
            case "ReturnType":
                parent["$ReturnType"] = _members(child)
            case "Action" | "Function":
                parent.setdefault(str(child.name), []).append(_members(child))
            case _:
                parent[str(child.name)] = _members(child)


def _members(element: Element) -> dict[str, Any]:
    members: dict[str, Any] = {"$Kind": element.kind} if element.kind in _WITH_KIND else {}
    if element.type is not None:
        members |= _type(element.type)
    for name, value in element.attributes.items():
        if value is not None:
            members[f"${name}"] = value
    _add(members, element.children)
    return members | _annotations(element.annotations)


def _type(use: TypeUse) -> dict[str, Any]:
    """Type, collection and nullability, what is the default left out."""
    members: dict[str, Any] = {}
    if use.is_collection:
        members["$Collection"] = True
    if use.name != "Edm.String":
        members["$Type"] = use.name
    if use.nullable and not use.is_collection:
        members["$Nullable"] = True
    return members


def _annotations(items: Iterable[notes.Annotation]) -> dict[str, Any]:
    members = {}
    for item in items:
        members[f"@{item.qualified}"] = _value(item.value)
        for term, value in item.notes.items():
            members[f"@{item.qualified}@{term}"] = _value(value)
    return members


def _value(value: notes.Expression) -> Any:
    if isinstance(value, notes.Path):
        return value.path if isinstance(value, notes.PropertyPath) else {"$Path": value.path}
    if isinstance(value, notes.EnumMembers):
        return ",".join(value.members)
    if isinstance(value, Mapping):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    return value


# --- CSDL XML

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


# --- tags of XML


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


# --- annotations in XML


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
