"""What a new record has without being given it is said in the metadata, wherever it is true."""

from __future__ import annotations

from typing import Any

import pytest

from app.container.model import container
from app.odata.csdl.annotations import CORE
from tests.contract.conftest import Api

COMPUTED, DEFAULTED = f"@{CORE}.Computed", f"@{CORE}.ComputedDefaultValue"
LINE = {"description": "Work", "unitPrice": 100}
# The least that makes a record, where a client is there.
LEAST: dict[str, dict[str, Any]] = {
    "Clients": {"name": "ACME"}, "Contacts": {"lastName": "Doe"}, "Leads": {"company": "ACME"},
    "Opportunities": {"name": "Sale", "clientId": 1, "amount": 10}, "Tickets": {"subject": "Help"},
    "Invoices": {"clientId": 1, "LineItems": [LINE]}, "Tasks": {"title": "Call"},
    "KbArticles": {"title": "How", "body": "So."}, "Documents": {"name": "a.txt"},
    "Projects": {"name": "Work", "clientId": 1}, "Products": {"name": "Advice", "unitPrice": 1},
}  # fmt: skip


def declared(admin: Api, type_: str) -> dict[str, Any]:
    model: dict[str, Any] = admin.get("/odata/$metadata?$format=json").json["BusinessPlatform"]
    return {name: facets for name, facets in model[type_].items() if isinstance(facets, dict)}


def filled(given: dict[str, Any], made: dict[str, Any], properties: dict[str, Any]) -> set[str]:
    """What has a value that was neither given nor declared as the default of all."""
    return {
        name
        for name, facets in properties.items()
        if name not in given
        and facets.get("$Kind") is None
        and not facets.get(COMPUTED)
        and made.get(name) not in (None, [], {}, facets.get("$DefaultValue"))
    } - {"id"}


@pytest.mark.parametrize("name", LEAST)
def test_what_the_service_fills_in_is_declared(admin: Api, name: str) -> None:
    assert LEAST.keys() == {one.name for one in container().sets.values() if one.service}
    settings = {"defaults": {"currency": "CHF", "language": "de", "taxRate": 8}}
    assert admin.patch("/api/admin/settings", settings).status_code == 200
    admin.post("/odata/Clients", {"name": "First"})
    answer = admin.post(f"/odata/{name}?$expand=*", LEAST[name])
    assert answer.status_code == 201, answer.text
    type_ = container().sets[name].type.name
    properties = declared(admin, type_)
    marked = {one for one, facets in properties.items() if facets.get(DEFAULTED)}
    assert filled(LEAST[name], answer.json, properties) == marked
    if name == "Invoices":
        lines = declared(admin, "LineItem")
        # A line has more from its product.
        product = admin.post("/odata/Products", LEAST["Products"]).json["id"]
        body = {"clientId": 1, "LineItems": [{"productId": product}]}
        other = admin.post("/odata/Invoices?$expand=LineItems", body).json["LineItems"][0]
        found = filled(LINE, answer.json["LineItems"][0], lines)
        found |= filled({"productId": product}, other, lines)
        assert found == {one for one, facets in lines.items() if facets.get(DEFAULTED)}
