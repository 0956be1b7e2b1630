"""The OpenAPI document of the application, and an administrator who tries it."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from flask import Flask

from tests.contract.conftest import Api, admin, sign_in
from tests.openapi.reading import Validator

__all__ = ["admin", "sign_in"]


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    """The document as clients get it."""
    parsed: dict[str, Any] = orjson.loads(app.extensions["openapi"].text())
    return parsed


@pytest.fixture
def validator(document: dict[str, Any]) -> Validator:
    """Checks values against the schemas of the document."""
    return Validator(document)


@pytest.fixture
def records(admin: Api, document: dict[str, Any]) -> Api:
    """An administrator, and in every set one record with the key 1: the examples name it."""
    for path, item in document["paths"].items():
        if re.fullmatch(r"/odata/\w+", path) and "post" in item:
            body = item["post"]["requestBody"]["content"]["application/json"]["example"]
            answer = admin.post(path, body)
            assert answer.status_code == 201, f"{path}: {answer.text}"
            assert answer.json["id"] == 1
    return admin
