"""Keys in addresses: literals of the type of the key and nothing else, read and written alike."""

from __future__ import annotations

import pytest

from tests.contract.conftest import Api
from tests.contract.records import fields, make

pytestmark = pytest.mark.both_databases

WRONG = {
    "a part twice": "id={key},id={key}",
    "a part twice in another case": "id={key},ID={key}",
    "another part too": "id={key},name='x'",
    "a decimal": "{key}.0",
    "a double": "{key}e0",
    "a single": "{key}f",
    "a text": "'{key}'",
    "not finite": "INF",
    "null": "null",
    "beyond Int64": "9223372036854775808",
    "two keys": "{key},{key}",
    "nothing": "",
    "no value": "id=",
    "an expression": "{key} add 0",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_no_key_is_refused_alike(admin: Api, text: str) -> None:
    key = make(admin, "Clients", name="ACME")
    path = f"Clients({text.format(key=key)})"
    answers = [
        admin.get(f"/odata/{path}"),
        admin.get(f"/odata/{path}/name"),
        admin.patch(f"/odata/{path}", {"name": "Other"}),
        admin.put(f"/odata/{path}", {"name": "Other"}),
        admin.delete(f"/odata/{path}"),
        admin.post(f"/odata/{path}/Contacts", {"lastName": "X"}),
        admin.get("/odata/Clients", query_string={"$filter": f"$root/{path}/name eq name"}),
    ]
    assert [one.status_code for one in answers] == [400] * 7
    assert {one.json["error"]["code"] for one in answers} == {"INVALID_QUERY"}
    assert len({one.json["error"]["position"] for one in answers[:6]}) == 1
    bound = admin.post("/odata/Contacts", {"lastName": "X", "Client@odata.bind": path})
    assert fields(bound) == {"Client@odata.bind"}
    assert admin.get(f"/odata/Clients({key})").json["name"] == "ACME"
    assert admin.get("/odata/Contacts/$count").text == "0"


@pytest.mark.parametrize("text", ["({})", "(id={})", "(%2B{})", "(0{})", "/{}", "/%2B{}"])
def test_a_whole_number_has_many_spellings(admin: Api, text: str) -> None:
    key = make(admin, "Clients", name="ACME")
    path = f"/odata/Clients{text.format(key)}"
    assert admin.get(path).json["id"] == key
    assert admin.patch(path, {"name": "Other"}).json["name"] == "Other"


@pytest.mark.parametrize("text", ["{}.0", "{}e0", "'{}'", "9223372036854775808", "x"])
def test_a_segment_that_is_no_key_is_not_there(admin: Api, text: str) -> None:
    path = f"/odata/Clients/{text.format(make(admin, 'Clients', name='ACME'))}"
    assert admin.get(path).status_code == 404
    assert admin.patch(path, {"name": "Other"}).status_code == 404
