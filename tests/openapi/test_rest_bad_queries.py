"""Every parameter of every query refuses what it cannot be, by name; so do those that nobody reads.

Operations, parameters and their bounds are those of the OpenAPI document.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.contract.conftest import Api
from tests.openapi.bad_values import wrong_queries
from tests.openapi.reading import Operation
from tests.openapi.test_rest_bad_fields import prepared
from tests.openapi.test_rest_examples import AREAS, example, filled, rest

__all__ = ["filled"]

# Parameters of a report are named by it.
OPEN = {f"/api/v1/bi/reports/{{report_id}}/{what}" for what in ("data", "chart.svg", "chart.png")}
# Their links go out by mail, and mailers hang parameters of their own on them.
MAILED = {"/s/{token}", "/s/i/{token}"}


@pytest.mark.parametrize("area", AREAS)
def test_every_parameter_refuses_what_it_cannot_be(
    filled: Api, document: dict[str, Any], area: str
) -> None:
    found = []
    for operation in rest(document, area):
        path, _ = prepared(filled, operation, {})
        parameters = {one["name"]: one for one in operation.parameters if one["in"] == "query"}
        good = {
            name: quote(str(example(one))) for name, one in parameters.items() if one["required"]
        }
        wrong = [(name, text) for name, one in parameters.items() for text in wrong_queries(one)]
        wrong += [(name, f"1&{name}=1") for name in parameters]
        if operation.path not in OPEN | MAILED:
            wrong.append(("noSuchThing", "1"))
        for name, text in wrong:
            query = "&".join(f"{key}={value}" for key, value in {**good, name: text}.items())
            answer = filled.client.open(
                f"{path}?{query}", method=operation.method.upper(), headers=filled.headers
            )
            found.append(problem(operation, name, text, answer))
    assert found
    assert [text for text in found if text] == []


def test_what_mailers_hang_on_a_link_is_let_be(filled: Api, document: dict[str, Any]) -> None:
    tried = [one for one in rest(document, "s") if one.path in MAILED]
    assert {one.path for one in tried} == MAILED
    for operation in tried:
        path, _ = prepared(filled, operation, {})
        for query in ("utm_source=news&fbclid=a&fbclid=b", "noSuchThing=1", "utm_source=%ff%00"):
            answer = filled.client.open(f"{path}?{query}", method=operation.method.upper())
            plain = filled.client.open(path, method=operation.method.upper())
            assert answer.status_code == plain.status_code != 400, f"{operation}: {answer.text}"


def problem(operation: Operation, name: str, text: str, answer: Any) -> str | None:
    """Why an answer is not the refusal that it should be."""
    told = f"{operation}?{name}={text:.60}: {answer.status_code} {answer.text[:200]}"
    if answer.status_code != 400:
        return told
    named = {detail["field"] for detail in answer.json["error"]["details"]}
    return None if name in named else told
