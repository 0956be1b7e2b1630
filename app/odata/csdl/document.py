"""``$metadata`` and the service document: made once for each form, then only sent.

Source: OData CSDL XML and CSDL JSON Representation 4.01.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element as XmlElement, SubElement, indent, tostring

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

# Elements whose annotations stand before what they are made of.
_ANNOTATED_FIRST = ("EnumType", "EntityContainer")
# Attributes with parts are child elements, and these the attributes of each.
_PARTS = {
    "ReferentialConstraint": ("Property", "ReferencedProperty"),
    "NavigationPropertyBinding": ("Path", "Target"),
}


def csdl_xml(container: edm.EntityContainer, version: str) -> str:
    """The whole model; ``version`` is 4.0 or 4.01."""
    edmx = "http://docs.oasis-open.org/odata/ns/edmx"
    root = XmlElement("edmx:Edmx", {"Version": version, "xmlns:edmx": edmx})
    for namespace, (alias, uri) in notes.VOCABULARIES.items():
        reference = SubElement(root, "edmx:Reference", {"Uri": f"{uri}.xml"})
        SubElement(reference, "edmx:Include", {"Namespace": namespace, "Alias": alias})
    xmlns = "http://docs.oasis-open.org/odata/ns/edm"
    attributes = {"Namespace": container.namespace, "xmlns": xmlns}
    schema = SubElement(SubElement(root, "edmx:DataServices"), "Schema", attributes)
    for element in schema_elements(container):
        _add_element(schema, element)
    _annotate(schema, notes.of_schema(container))
    indent(root, "")
    text = tostring(root, encoding="unicode")
    # In single quotes: some clients take the first Namespace="..." for the model's own.
    text = re.sub('Include Namespace="([^"]*)"', r"Include Namespace='\1'", text)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _add_element(parent: XmlElement, element: Element) -> None:
    """An element with all that is in it."""
    attributes: dict[str, Any] = {"Name": element.name}
    if (use := element.type) is not None:
        if element.kind == "EntitySet":
            attributes["EntityType"] = use.name
        else:
            attributes["Type"] = f"Collection({use.name})" if use.is_collection else use.name
        attributes["Nullable"] = False if use.nullable is False else None
    parted = {"Key", *_PARTS}
    plain = {name: value for name, value in element.attributes.items() if name not in parted}
    tag = _tag(parent, element.kind, attributes | plain)
    if element.kind in _ANNOTATED_FIRST:
        _annotate(tag, element.annotations)
    if keys := element.attributes.get("Key"):
        key_tag = SubElement(tag, "Key")
        for key in keys:
            SubElement(key_tag, "PropertyRef", {"Name": key})
    for name, names in _PARTS.items():
        for pair in (element.attributes.get(name) or {}).items():
            SubElement(tag, name, dict(zip(names, pair, strict=True)))
    for child in element.children:
        _add_element(tag, child)
    if element.kind not in _ANNOTATED_FIRST:
        _annotate(tag, element.annotations)


def _tag(parent: XmlElement, name: str, attributes: Mapping[str, Any]) -> XmlElement:
    """A tag; of its attributes those that are None are left out."""
    written = {key: _text(value) for key, value in attributes.items() if value is not None}
    return SubElement(parent, name, written)


def _text(value: str | int | bool | Decimal) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


# --- annotations in XML


def _annotate(parent: XmlElement, items: Iterable[notes.Annotation]) -> None:
    for item in items:
        attributes = {"Term": item.term, "Qualifier": item.qualifier}
        tag = _add_valued(parent, "Annotation", attributes, item.value)
        _annotate(tag, (notes.Annotation(term, value) for term, value in item.notes.items()))


def _add_valued(
    parent: XmlElement, name: str, attributes: Mapping[str, Any], value: notes.Expression
) -> XmlElement:
    """A tag with a value: a constant as an attribute, what has parts inside."""
    if isinstance(value, Mapping | list | tuple):
        tag = _tag(parent, name, attributes)
        _add_parts(tag, value)
        return tag
    kind, text = _constant(value)
    return _tag(parent, name, {**attributes, kind: text})


def _add_parts(parent: XmlElement, value: notes.Expression) -> None:
    """A record, a collection, or a constant in one."""
    if isinstance(value, Mapping):
        record = SubElement(parent, "Record")
        for name, item in value.items():
            _add_valued(record, "PropertyValue", {"Property": name}, item)
    elif isinstance(value, list | tuple):
        collection = SubElement(parent, "Collection")
        for item in value:
            _add_parts(collection, item)
    else:
        kind, text = _constant(value)
        SubElement(parent, kind).text = text


def _constant(value: notes.Expression) -> tuple[str, str]:
    """``("Bool", "true")``: the kind of a value that fits into an attribute, and its text."""
    if isinstance(value, notes.EnumMembers):
        return "EnumMember", " ".join(f"{value.type}/{member}" for member in value.members)
    if isinstance(value, notes.Path):
        return type(value).__name__, value.path
    kinds = {bool: "Bool", int: "Int", Decimal: "Decimal"}
    return kinds.get(type(value), "String"), _text(value)  # type: ignore[arg-type]
