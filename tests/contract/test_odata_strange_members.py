"""Bodies that are no entity have the members of their form, and annotations: others are named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.conftest import Api

REFERENCE = {"@odata.id": "Contacts(1)"}


@pytest.mark.parametrize(
    ("method", "path", "body", "is_inside"),
    [
        ("PATCH", "Clients", {"value": []}, False),
        ("PUT", "Clients(1)/name", {"value": "A"}, False),
        ("PUT", "Clients(1)/tags", {"value": ["a"]}, False),
        ("POST", "Clients(1)/Contacts/$ref", REFERENCE, False),
        ("PUT", "Contacts(1)/Client/$ref", {"@odata.id": "Clients(1)"}, False),
        ("PUT", "Clients(1)/Contacts/$ref", {"value": [REFERENCE]}, False),
        ("PUT", "Clients(1)/Contacts/$ref", {"value": [REFERENCE]}, True),
    ],
    ids=["delta", "value", "values", "added", "set", "references", "one of the references"],
)
def test_a_member_that_no_form_has_is_named(
    admin: Api, method: str, path: str, body: dict[str, Any], is_inside: bool
) -> None:
    client = admin.post("/odata/Clients", {"name": "A", "Contacts": [{"lastName": "B"}]}).json
    assert client["id"] == 1
    options = {"headers": {"Prefer": "handling=strict"}}
    annotated = _with(body, is_inside, "@example.note")
    answer = admin.send(method, f"/odata/{path}", json=annotated, **options)
    assert answer.status_code in (200, 204), answer.text
    strange = _with(body, is_inside, "nmae")
    refused = admin.send(method, f"/odata/{path}", json=strange, **options)
    assert refused.status_code == 400, refused.text
    where = "value[0].nmae" if is_inside else "nmae"
    assert [at["target"] for at in refused.json["error"]["details"]] == [where]
    lenient = {"headers": {"Prefer": "handling=lenient"}}
    answer = admin.send(method, f"/odata/{path}", json=strange, **lenient)
    assert answer.status_code in (200, 204), answer.text


def _with(body: dict[str, Any], is_inside: bool, name: str) -> dict[str, Any]:
    """A copy of a body that has one member more, in itself or in its first reference."""
    if not is_inside:
        return {**body, name: 1}
    return {"value": [{**item, name: 1} for item in body["value"]]}
