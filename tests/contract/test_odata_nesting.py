"""``expand``, ``addnested`` and ``nest`` of ``$apply`` show a caller what ``$expand`` would."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.conftest import Api


@pytest.fixture
def filled(admin: Api) -> Api:
    """A client with two contacts, a ticket and an opportunity."""
    body = {
        "name": "A",
        "tags": ["b", "a", "ab"],
        "Contacts": [{"lastName": "Ada"}, {"lastName": "Bob"}],
    }
    client = admin.post("/odata/Clients", body).json["id"]
    for name, more in (
        ("Tickets", {"subject": "t"}),
        ("Opportunities", {"name": "o", "amount": 1}),
    ):
        answer = admin.post(f"/odata/{name}", {"clientId": client, **more})
        assert answer.status_code == 201, answer.text
    return admin


@pytest.mark.parametrize("role", ["Sales", "Support", "Accountant", "Viewer"])
@pytest.mark.parametrize("name", ["Contacts", "Tickets", "Opportunities", "Invoices"])
def test_each_role_finds_what_it_finds_expanded(
    filled: Api, sign_in: Callable[..., Api], role: str, name: str
) -> None:
    caller = sign_in(role)
    plain = caller.get(f"/odata/Clients?$expand={name}&$orderby=id")
    for apply in (f"expand({name})", f"addnested({name},identity as Some)"):
        found = caller.get(f"/odata/Clients?$apply={apply}&$orderby=id")
        assert found.status_code == plain.status_code, found.text
        if found.status_code == 200:
            shown = "Some" if "Some" in apply else name
            assert [row[shown] for row in found.json["value"]] == [
                row[name] for row in plain.json["value"]
            ]
    assert plain.status_code == (403 if (role, name) == ("Support", "Opportunities") else 200)
    of_set = caller.get(f"/odata/{name}?$orderby=id")
    nested = caller.get(f"/odata/{name}?$apply=nest(orderby(id) as All)")
    assert nested.status_code == of_set.status_code, nested.text
    if nested.status_code == 200:
        assert nested.json["value"][0]["All"] == of_set.json["value"]


def test_members_of_tags_are_chosen(filled: Api) -> None:
    answer = filled.get(
        "/odata/Clients?$select=tags($filter=startswith($this,'a');$orderby=$this;$top=1;$count=true)"
    )
    [row] = answer.json["value"]
    assert (row["tags"], row["tags@odata.count"]) == (["a"], 2)
