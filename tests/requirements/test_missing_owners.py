"""What belongs to a record that is not there is not there either: 404, no empty list."""

from __future__ import annotations

import re

import orjson
import pytest
from flask import Flask

from app.openapi.routes import openapi
from tests.contract.conftest import Api
from tests.openapi.reading import operations


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("key", [0, 2**63 - 1])
def test_the_parts_of_no_record_are_not_found(app: Flask, admin: Api, key: int) -> None:
    document = orjson.loads(openapi.of(app).text())
    paths = [
        operation.path
        for operation in operations(document)
        if operation.method == "get" and re.search(r"\}\)?/.", operation.path)
    ]
    assert len(paths) > 60
    found = []
    for path in paths:
        answer = admin.get(re.sub(r"\{[^}]*\}", str(key), path))
        # Before the record is looked for, a parameter of the query may be missed.
        if answer.status_code != 404 and '"field"' not in answer.text:
            found.append(f"{path}: {answer.status_code} {answer.text[:100]}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("key", [0, 999, 2**63 - 1])
def test_nobody_has_no_sessions(admin: Api, key: int) -> None:
    assert admin.get(f"/api/admin/users/{key}").status_code == 404
    assert admin.get(f"/api/admin/users/{key}/sessions").status_code == 404
