"""What a value of a JSON schema must never be: wrong values derived from the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.openapi.reading import resolve

JsonSchema = dict[str, Any]
HUGE = 2**63
# Under the limit of a body, over that of every text.
LONG = "x" * 900_000
NO_TEXTS = ("a\x00b", "half \ud800", "\udc00 half")
OF_TYPE: dict[str, tuple[Any, ...]] = {
    "null": (None,),
    "boolean": (True,),
    "integer": (5,),
    "number": (1.5,),
    "string": ("a", "5", "true"),
    "array": ([], ["a"]),
    "object": ({}, {"a": 1}),
}
OF_FORMAT = {
    "date": ("2026-02-30", "31.01.2026", "2026-01-31T00:00:00Z", "10000-01-01", "0000-00-00", ""),
    "date-time": ("soon", "2026-02-30T00:00:00Z", "2026-01-31T25:00:00Z", "10000-01-01T00:00:00Z",
                  "2026-01-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", ""),
    "email": ("nobody", "a@", "@acme.example", "a b@acme.example", "a@acme.example\r\nBcc: b@c.de"),
}  # fmt: skip


class Raw(str):
    """A number as JSON writes it, that no number of Python is."""


class Wrong(NamedTuple):
    """A value for a member, and the path by which a refusal names it."""

    path: tuple[str | int, ...]
    value: Any

    @property
    def name(self) -> str:
        """``columns[0].name``."""
        name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return name.removeprefix(".")


def wrong_members(document: JsonSchema, schema: JsonSchema, example: Any) -> Iterator[Wrong]:
    """Every member of an object with what it must not be; objects within objects, too."""
    schema = plain(document, schema)
    required = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        member = plain(document, member)
        if member.get("readOnly"):
            continue
        for value in wrong_values(member, name):
            yield Wrong((name,), value)
        below = example.get(name) if isinstance(example, dict) else None
        if isinstance(below, dict):
            for wrong in wrong_members(document, member, below):
                yield Wrong((name, *wrong.path), wrong.value)
        if "array" in types_of(member) and "items" in member:
            for wrong in wrong_items(document, plain(document, member["items"]), name, below):
                yield Wrong((name, *wrong.path), wrong.value)
        if name in required:
            yield Wrong((name,), ...)
    if schema.get("properties") and schema.get("additionalProperties") is not True:
        yield Wrong(("noSuchThing",), 1)
    if isinstance(schema.get("additionalProperties"), dict):
        for value in wrong_values(plain(document, schema["additionalProperties"]), ""):
            yield Wrong((next(iter(example), "any"),), value)


def wrong_items(
    document: JsonSchema, items: JsonSchema, name: str, example: Any
) -> Iterator[Wrong]:
    """What a list must not contain, as its first item."""
    for value in wrong_values(items, name.removesuffix("s")):
        yield Wrong((0,), value)
    if example and isinstance(example[0], dict) and items.get("properties"):
        for wrong in wrong_members(document, items, example[0]):
            yield Wrong((0, *wrong.path), wrong.value)


def wrong_values(schema: JsonSchema, name: str) -> Iterator[Any]:
    """What a value must not be whatever else is said of it."""
    types = types_of(schema)
    if types == set(OF_TYPE):
        yield from NO_TEXTS
        return
    for kind, values in OF_TYPE.items():
        if kind not in types and not (kind == "integer" and "number" in types):
            yield from values
    if "string" in types:
        yield from wrong_texts(schema)
    if "integer" in types:
        yield from (1.5, Raw("1e400"), HUGE, -HUGE - 1, HUGE**2)
        if name.endswith("Id"):
            yield from (0, -1)
    if "number" in types:
        yield from (Raw("1e400"), Raw("-1e400"), Raw("1e-400"), 10**30)
    if "integer" in types or "number" in types:
        yield from outside(schema)
    if "array" in types and "maxItems" in schema:
        yield [list_item(schema)] * (schema["maxItems"] + 1)
    if "array" in types and schema.get("minItems"):
        yield []


def outside(schema: JsonSchema) -> list[Any]:
    """The numbers next to the bounds of a number."""
    return [
        schema[bound] + step for bound, step in (("minimum", -1), ("maximum", 1)) if bound in schema
    ]


def wrong_texts(schema: JsonSchema) -> Iterator[str]:
    """What a text must not be."""
    yield from NO_TEXTS
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield "x" * (schema["minLength"] - 1)
    if "enum" in schema:
        first = schema["enum"][0]
        yield from ("Nonsense", "", f" {first}", f"{first}\u200b", "👋", first.swapcase())
    if "pattern" in schema:
        yield from ("\u202e", "👋")
    yield from OF_FORMAT.get(schema.get("format", ""), ())


def odd_texts() -> tuple[str, ...]:
    """What a text may be, or may not: it is kept or refused, and nothing breaks."""
    return (
        "\U0001f469\u200d\U0001f4bb \U0001d518\U0001d52b", "\u202e\u05de\u05e1\u05de\u202c",
        "a\u0301\u0323",
        "\ufeffx", "\u2028\u2029", "\x7f\x1b[31m", "\r\nX: y", "%s%n{0}{{7*7}}${jndi:ldap://x}",
        "' OR 1=1 --", "<script>alert(1)</script>", "../../etc/passwd", "=cmd|' /C calc'!A0",
        "\U0010ffff", "-1", "null", " " * 50, LONG,
    )  # fmt: skip


def types_of(schema: JsonSchema) -> set[str]:
    """The JSON types that a schema allows; all of them where it names none."""
    if "anyOf" in schema:
        return set().union(*(types_of(one) for one in schema["anyOf"]))
    named = schema.get("type", list(OF_TYPE))
    return {named} if isinstance(named, str) else set(named)


def plain(document: JsonSchema, schema: JsonSchema) -> JsonSchema:
    """A schema with its reference, and the one of "this or null", resolved."""
    schema = resolve(document, schema)
    if "anyOf" in schema:
        first = resolve(document, schema["anyOf"][0])
        kinds = [*types_of(first), *(kind for one in schema["anyOf"][1:] for kind in types_of(one))]
        return {**first, "type": kinds}
    return schema


def list_item(schema: JsonSchema) -> Any:
    """Something to repeat in a list."""
    return (schema.get("example") or ["a"])[0]


def body_with(body: Any, wrong: Wrong) -> bytes:
    """JSON of a body in which one member is wrong; ``...`` leaves it out."""
    return body_of(changed(body, wrong.path, wrong.value))


def changed(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """``body`` with another value at ``path``."""
    step, *rest = path
    if isinstance(step, int):
        first = changed(body[0], tuple(rest), value) if rest else value
        return [first, *(body or [])[1:]]
    given = dict(body or {})
    if rest:
        given[step] = changed(given.get(step), tuple(rest), value)
    elif value is ...:
        given.pop(step, None)
    else:
        given[step] = value
    return given


def body_of(value: Any) -> bytes:
    """JSON, whatever the value is."""
    return re.sub(r'"raw (-?[^"]*)"', r"\1", json.dumps(marked(value))).encode()


def marked(value: Any) -> Any:
    if isinstance(value, Raw):
        return f"raw {value}"
    if isinstance(value, dict):
        return {name: marked(below) for name, below in value.items()}
    return [marked(item) for item in value] if isinstance(value, list) else value


def wrong_queries(parameter: JsonSchema) -> Iterator[str]:
    """What a parameter of a query must not be, percent-encoded."""
    schema = parameter["schema"]
    types = types_of(schema)
    yield from ("a%00b", "%ff%fe", "%ed%a0%80")
    if "integer" in types:
        yield from ("", "x", "1.5", "NaN", "1e3", "1_0", "%D9%A1", "0x10", "%2B1", "1%201", "null",
                    str(HUGE), str(-HUGE), "9" * 5000)  # fmt: skip
        yield from map(str, outside(schema))
    elif "boolean" in types:
        yield from ("", "maybe", "2", "null")
    elif "enum" in schema:
        yield from ("", "Nonsense", schema["enum"][0].swapcase(), f"%20{schema['enum'][0]}")
    yield from (quote(text) for text in OF_FORMAT.get(schema.get("format", ""), ()))
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield "x" * (schema["minLength"] - 1)
    if "pattern" in schema:
        yield from ("", "%E2%80%AE", quote("👋"))
