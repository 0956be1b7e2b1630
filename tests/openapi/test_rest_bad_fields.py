"""Every member of every body refuses what it cannot be: by name, and in whole.

Operations, members and their bounds are those of the OpenAPI document, and valid bodies are its
examples, so an operation that is added is tested without a word here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.db.engines import read_engine
from app.extensions import Model
from tests.contract.conftest import Api
from tests.openapi.bad_values import (
    Wrong,
    body_of,
    body_with,
    odd_texts,
    wrong_members,
)
from tests.openapi.preparations import BEFORE
from tests.openapi.reading import Operation
from tests.openapi.test_rest_examples import AREAS, CREDENTIALS, filled, name_of, rest

__all__ = ["filled"]

WITH_BODIES = [area for area in AREAS if area not in ("mail", "events")]
NO_BODIES = (
    b"{", b"null", b"5", b'"text"', b"[]", b"[{}]", b"{}}", b"\xff\xfe{}", b'{"a": NaN}',
    b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": 1, "a": 2}', b'{"a": "\\ud800"}',
    b'{"\\u0000": 1}', b"[" * 100_000, b'{"a":' * 1000 + b"1" + b"}" * 1000,
    b'{"a": ' + b"9" * 5000 + b"}",
    b'{"a": "' + b"x" * 1_000_001 + b'"}',
)  # fmt: skip


def bodies(document: dict[str, Any], area: str) -> Iterator[tuple[Operation, dict[str, Any]]]:
    """The operations of an area that take JSON, with what they take."""
    for operation in rest(document, area):
        content = operation.value.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            yield operation, content["application/json"]


@pytest.mark.requirement("SEC-65", "SEC-66", "SEC-114")
@pytest.mark.parametrize("area", WITH_BODIES)
def test_every_member_refuses_what_it_cannot_be(
    filled: Api, document: dict[str, Any], area: str
) -> None:
    found: list[str | None] = []
    for operation, described in bodies(document, area):
        path, example = prepared(filled, operation, described["example"])
        before = rows(filled.client.application)
        for wrong in wrong_members(document, described["schema"], example):
            answer = send(filled, operation, path, body_with(example, wrong))
            found.append(problem(operation, wrong, answer))
        if rows(filled.client.application) != before:
            found.append(f"{operation} left something")
    assert found
    assert [text for text in found if text] == []


@pytest.mark.parametrize("area", WITH_BODIES)
def test_what_is_no_object_is_no_body(filled: Api, document: dict[str, Any], area: str) -> None:
    found = []
    for operation, _ in bodies(document, area):
        path, _ = prepared(filled, operation, {})
        before = rows(filled.client.application)
        for body in NO_BODIES:
            answer = send(filled, operation, path, body)
            if answer.status_code not in (400, 413) or not are_sentences(answer.json["error"]):
                found.append(f"{operation} {body!r:.40}: {answer.status_code} {answer.text[:200]}")
        if rows(filled.client.application) != before:
            found.append(f"{operation} left something")
    assert found == []


def are_sentences(error: dict[str, Any]) -> bool:
    """Whether what is said of no field has a capital and a full stop (docs/errors.md)."""
    texts = [one["message"] for one in error["details"] if not one["field"]]
    return bool(error["message"]) and all(re.fullmatch(r"[A-Z].*\.", text) for text in texts)


@pytest.mark.parametrize("area", [area for area in WITH_BODIES if area != "s"])
def test_no_text_breaks_anything(filled: Api, document: dict[str, Any], area: str) -> None:
    found = []
    given = [
        (operation, *prepared(filled, operation, described["example"]))
        for operation, described in bodies(document, area)
    ]
    for operation, path, example in given:
        for name, value in example.items():
            if isinstance(value, str):
                for text in odd_texts():
                    answer = send(filled, operation, path, body_of({**example, name: text}))
                    if answer.status_code >= 500 or not (answer.json or answer.status_code == 204):
                        found.append(f"{operation} {name} = {text!r:.40}: {answer.status_code}")
    assert found == []


def prepared(api: Api, operation: Operation, example: Any) -> tuple[str, Any]:
    """The address of what there is to work on, and a body that would be taken."""
    prepare = BEFORE.get(name_of(operation))
    values = dict((prepare and prepare(api)) or {})
    path = re.sub(r"{(\w+)}", lambda match: str(values.get(match[1], 1)), operation.path)
    own = CREDENTIALS.get(name_of(operation))
    return path, {**example, **own(api)} if own else example


def send(api: Api, operation: Operation, path: str, body: bytes) -> Any:
    return api.client.open(
        path, method=operation.method.upper(), data=body,
        headers={**api.headers, "Content-Type": "application/json"},
    )  # fmt: skip


def problem(operation: Operation, wrong: Wrong, answer: Any) -> str | None:
    """Why an answer is not the refusal that it should be."""
    told = (
        f"{operation} {wrong.name} = {wrong.value!r:.40}: {answer.status_code} {answer.text[:300]}"
    )
    if answer.status_code not in (400, 401, 404, 409):
        return told
    error = answer.json["error"]
    if not error["code"] or not error["message"]:
        return told
    if answer.status_code == 401:
        return None
    named = {detail["field"] for detail in error["details"]}
    return None if any(one.startswith(str(wrong.path[0])) for one in named) else told


def rows(app: Flask) -> dict[str, int]:
    """How many rows each table has."""
    with app.app_context(), read_engine().connect() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in Model.metadata.tables.items()
        }
