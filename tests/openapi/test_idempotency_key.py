"""Where the document has an ``Idempotency-Key``, and where one is taken: the same operations."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.contract.conftest import Api
from tests.openapi.reading import Operation, operations, resolve

pytestmark = pytest.mark.only_on("sqlite")
HEADER = "Idempotency-Key"


def is_documented(operation: Operation) -> bool:
    return any(one["name"] == HEADER for one in operation.parameters)


def is_taken(api: Api, operation: Operation) -> bool:
    """Whether a key of a form that none has is refused."""
    path = re.sub(r"{\w+}", "1", operation.path)
    method = operation.method.upper()
    answer = api.client.open(path, method=method, headers={**api.headers, HEADER: "no key"})
    if answer.status_code != 400:
        answer.close()  # which may be a stream without an end
        return False
    return any(one["field"] == HEADER for one in answer.json["error"]["details"])


def test_a_key_is_documented_where_it_is_taken(admin: Api, document: dict[str, Any]) -> None:
    # Whoever has logged out or changed the password is nobody any more.
    found = sorted(operations(document), key=lambda one: "/auth/" in one.path)
    wrong = [str(one) for one in found if is_documented(one) is not is_taken(admin, one)]
    assert wrong == []
    assert {one.method for one in found if is_documented(one)} == {"post"}


def test_the_document_says_what_a_key_looks_like(admin: Api, document: dict[str, Any]) -> None:
    parameter = resolve(document, {"$ref": "#/components/parameters/idempotencyKey"})
    pattern = parameter["schema"]["pattern"]
    body = {"name": "Auditor", "permissions": {}}
    for key in ("order-4711", "x" * 255, "x" * 256, "two words", "~"):
        answer = admin.post("/api/v1/admin/roles", body, headers={HEADER: key})
        assert (answer.status_code != 400) is bool(re.search(pattern, key)), key
