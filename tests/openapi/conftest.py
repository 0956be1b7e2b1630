"""The OpenAPI document of the application, and an administrator who tries it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import pytest
from flask import Flask

from app.openapi.routes import openapi
from tests.conftest import Once
from tests.contract.conftest import Api, admin, sign_in
from tests.openapi.reading import Operation, Validator, resolve

__all__ = ["admin", "sign_in"]

Check = Callable[[Operation, Any], None]
Problems = Callable[[Operation, Any], list[str]]


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    """The document as clients get it."""
    parsed: dict[str, Any] = orjson.loads(openapi.of(app).text())
    return parsed


@pytest.fixture
def validator(document: dict[str, Any]) -> Validator:
    """Checks values against the schemas of the document."""
    return Validator(document)


@pytest.fixture
def records(admin: Api, document: dict[str, Any], once: Once) -> Api:
    """An administrator, and in every set one record with the key 1: the examples name it."""
    once("a record in every set", partial(_make_records, admin, document))
    return admin


def _make_records(admin: Api, document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        if re.fullmatch(r"/odata/\w+", path) and "patch" in item:
            body = item["post"]["requestBody"]["content"]["application/json"]["example"]
            answer = admin.post(path, body)
            assert answer.status_code == 201, f"{path}: {answer.text}"
            assert answer.json["id"] == 1


@pytest.fixture
def problems(document: dict[str, Any], validator: Validator) -> Problems:
    """Why an answer is no success as the document describes it."""
    return partial(_problems, document, validator)


@pytest.fixture
def check(problems: Problems) -> Check:
    """Assert that an answer is a success that the document describes, and fits its schema."""

    def assert_none(operation: Operation, answer: Any) -> None:
        assert problems(operation, answer) == []

    return assert_none


def _problems(
    document: dict[str, Any], validator: Validator, operation: Operation, answer: Any
) -> list[str]:
    described = operation.value["responses"]
    status = str(answer.status_code)
    if not status.startswith("2"):
        return [f"{operation}: {answer.text}"]
    if status not in described:
        return [f"{operation}: {status} is not described"]
    content = resolve(document, described[status]).get("content", {})
    kinds = {answer.mimetype, "*/*"} if answer.data else set()
    if bool(content) != bool(answer.data) or (content and not kinds & content.keys()):
        return [f"{operation}: {status} with {answer.mimetype}, not {list(content)}"]
    if answer.mimetype != "application/json" or "application/json" not in content:
        return []
    found = validator.problems(content["application/json"]["schema"], answer.json)
    return [f"{operation}: {problem}" for problem in found]
