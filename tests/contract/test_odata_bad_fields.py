"""Every property that may be written refuses what it cannot be, over HTTP: by name, and in whole.

Sets, properties and their bounds are those of the model; valid bodies are the examples of the
OpenAPI document. What is sent to each is wrong whatever else is said of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import orjson
import pytest
from flask import Flask

from app.container.model import container
from app.odata.model.edm import (
    BOOLEAN,
    DATE,
    DATETIME,
    DECIMAL,
    INT32,
    INT64,
    STRING,
    CollectionType,
    ComplexType,
    EnumType,
    Property,
)
from app.openapi.routes import openapi
from tests.conftest import Once
from tests.contract.conftest import Api

pytestmark = pytest.mark.costly(3)

HUGE = 2**63
MEGABYTE = "x" * 1_000_000
NO_TEXT = (5, True, ["a"], {"a": 1}, "a\x00b", "half \ud800")


class Target(NamedTuple):
    """Where entities are made (``Invoices(1)/LineItems``), of which properties, and an example."""

    path: str
    properties: dict[str, Property]
    example: dict[str, Any]


def written() -> Iterator[tuple[str, dict[str, Property]]]:
    """Every address that takes new entities of a type, with what may be written of it."""
    for entity_set in container().sets.values():
        if entity_set.service is None:
            continue
        kinds = [(entity_set.name, entity_set.type)]
        kinds += [
            (f"{entity_set.name}({{id}})/{name}", container().types[nav.target])
            for name, nav in entity_set.type.navigation.items()
            if nav.contained and (nav.owned or nav.service)
        ]
        for path, kind in kinds:
            yield path, {n: p for n, p in kind.properties.items() if not p.computed and n != "id"}


PATHS = [path for path, _ in written()]


@pytest.fixture
def targets(app: Flask, admin: Api, once: Once) -> dict[str, Target]:
    """Each with a record that has the key 1."""
    paths = orjson.loads(openapi.of(app).text())["paths"]
    found = {}
    for path, properties in written():
        content = paths[f"/odata/{path}"]["post"]["requestBody"]["content"]
        example = content["application/json"]["example"]
        found[path] = Target(path.replace("{id}", "1"), properties, example)
    once("a record at every address", partial(_make_records, admin, found))
    return found


def _make_records(admin: Api, targets: dict[str, Target]) -> None:
    for path in sorted(targets, key=lambda path: "(" in path):
        if path != "Invoices({id})/Payments":  # a payment would issue the invoice
            answer = admin.post(f"/odata/{targets[path].path}", targets[path].example)
            assert answer.status_code == 201, answer.text


def bad_values(prop: Property) -> list[Any]:
    """What a property must refuse."""
    refused = [] if prop.nullable else [None]
    kind = prop.type
    if isinstance(kind, CollectionType):
        return [*refused, "a", 5, True, [5], [None], ["a\x00b"], {"a": 1}, [MEGABYTE]]
    if isinstance(kind, ComplexType):
        return [*refused, "a", 5, True, [1], *([] if kind.is_open else [{"noSuch": 1}])]
    if isinstance(kind, EnumType):
        return [*refused, "Nonsense", True, [], {}, 77, HUGE, "", "normal\x00"]
    if prop.allowed:
        first = prop.allowed[0]
        return [*refused, *NO_TEXT, "Nonsense", f" {first}", f"{first}\u200b", "👋"]
    if kind == STRING:
        longer = MEGABYTE if prop.max_length is None else "x" * (prop.max_length + 1)
        return [*refused, *NO_TEXT, longer, *(["", " \t"] if prop.required else [])]
    if kind == DECIMAL:
        whole = (prop.precision or 15) - (prop.scale or 0)
        finer = "0." + "0" * (prop.scale or 0) + "1"
        return [*refused, "5", "NaN", True, [], Raw("1e400"), Raw(finer), 10**whole, -(10**whole)]
    if kind in (INT32, INT64):
        bounds = [prop.minimum, prop.maximum]
        outside = [bound + step for bound, step in zip(bounds, (-1, 1), strict=True)
                   if bound is not None]  # fmt: skip
        reference = [0, -1, HUGE - 1, 987_654_321] if prop.name.endswith("Id") else []
        limit = HUGE if kind == INT64 else 2**31
        return [*refused, "5", True, 1.5, [], limit, -limit - 1, HUGE**2, *outside, *reference]
    if kind == BOOLEAN:
        return [*refused, 0, 1, "true", []]
    if kind == DATE:
        return [
            *refused,
            5,
            True,
            "2026-02-30",
            "31.01.2026",
            "2026-01-31T00:00:00Z",
            "10000-01-01",
        ]
    if kind == DATETIME:
        return [*refused, 5, True, "soon", "2026-01-31", "2026-01-31T10:00:00",
                "2026-02-30T00:00:00Z"]  # fmt: skip
    return [*refused, 5, "a", True, [1], {"a": "x\x00"}, {"a": MEGABYTE}]


class Raw(str):
    """A number as JSON writes it, that no number of Python is."""


def body_of(values: dict[str, Any]) -> bytes:
    """JSON, whatever the values are."""
    marked = {
        name: f"raw {value}" if isinstance(value, Raw) else value for name, value in values.items()
    }
    return re.sub(r'"raw ([^"]*)"', r"\1", json.dumps(marked)).encode()


def problem(answer: Any, name: str, value: Any) -> str | None:
    """Why an answer is not the refusal that it should be."""
    told = f"{name} = {value!r:.40}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code == 413 and MEGABYTE in str(value):
        return None
    if answer.status_code not in (400, 404, 409):
        return told
    error = answer.json["error"]
    if not error["code"] or not error["message"]:
        return told
    named = {re.split(r"[./\[]", detail["field"])[0] for detail in error["details"]}
    return None if name in named else told


def state(api: Api, target: Target) -> tuple[str, Any]:
    """How many there are, and the first as it is."""
    first = api.get(f"/odata/{target.path}?$top=1")
    return api.get(f"/odata/{target.path}/$count").text, first.json["value"]


@pytest.mark.requirement("SEC-65", "SEC-66", "SEC-114")
@pytest.mark.parametrize("path", PATHS)
def test_every_property_refuses_what_it_cannot_be(
    admin: Api, targets: dict[str, Target], path: str
) -> None:
    target = targets[path]
    send = sender(admin)
    before = state(admin, target)
    found = []
    for place, (name, prop) in enumerate(target.properties.items()):
        # Every second value is sent to an entity that is there, of the next property the others:
        # so each kind of value is sent both ways, and each property is.
        for at, value in enumerate(bad_values(prop), place):
            values = {**kind_of_record(target, name), name: value}
            if at % 2 and "(" not in path:
                answer = send("PATCH", f"{target.path}(1)", values)
            else:
                answer = send("POST", target.path, {**target.example, **values})
            found.append(problem(answer, name, value))
        if prop.required:
            given = {key: value for key, value in target.example.items() if key != name}
            found.append(problem(send("POST", target.path, given), name, "left out"))
    unknown = send("POST", target.path, {**target.example, "noSuchThing": 1})
    found.append(problem(unknown, "noSuchThing", 1))
    assert [text for text in found if text] == []
    assert state(admin, target) == before


def kind_of_record(target: Target, name: str) -> dict[str, str]:
    """``relatedId`` is told together with ``relatedType``."""
    kind = target.properties.get(name.removesuffix("Id") + "Type")
    return {kind.name: kind.allowed[0]} if kind and kind.allowed and name.endswith("Id") else {}


def sender(api: Api) -> Callable[[str, str, dict[str, Any]], Any]:
    def send(method: str, path: str, values: dict[str, Any]) -> Any:
        return api.client.open(
            f"/odata/{path}", method=method, data=body_of(values),
            headers={**api.headers, "Content-Type": "application/json"},
        )  # fmt: skip

    return send


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/odata/Clients", '{"": 1, "name": "a"}', '""'),
        ("/odata/Clients", '{"name": "a", "billingAddress": {"": 1}}', 'billingAddress.""'),
        ("/odata/Invoices", '{"LineItems": [{"": 1}]}', 'LineItems[0].""'),
        ("/odata/Clients", '{"name": "a", "customFields": {"a": 1, "a": 2}}', "customFields.a"),
        ("/api/tickets/1/comments", '{"": 1, "body": "b"}', '""'),
        ("/api/tickets/1/comments", '{"body": "b", "body": "c"}', "body"),
    ],
)
def test_a_name_that_is_empty_or_stands_twice_is_told(
    admin: Api, path: str, body: str, field: str
) -> None:
    answer = admin.post(path, data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert field in [detail["field"] for detail in answer.json["error"]["details"]]
