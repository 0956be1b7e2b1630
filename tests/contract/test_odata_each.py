"""Actions done to every member of a set, operations by their names alone, functions in queries."""

from __future__ import annotations

from typing import Any

import pytest

from app.container.declared import DECLARED
from tests.contract.conftest import Api
from tests.contract.test_odata_operations import NS, issued, make, new_invoice


def leads(api: Api, *names: str) -> list[int]:
    return [make(api, "Leads", {"lastName": name, "company": "Globex"}) for name in names]


def states(api: Api, path: str = "Leads") -> list[str]:
    rows = api.get(f"/odata/{path}?$orderby=id&$select=status").json["value"]
    return [row["status"] for row in rows]


def test_an_action_is_done_to_each_that_passes(admin: Api) -> None:
    first, _, third = leads(admin, "Ada", "Bob", "Abe")
    answer = admin.post(
        f"/odata/Leads/$filter(@f)/$each/{NS}.Convert?@f=startswith(lastName,'A')",
        {"createContact": False},
    )
    assert answer.status_code == 200, answer.text
    assert answer.json["@odata.context"].endswith(f"#Collection({NS}.Conversion)")
    assert [row["leadId"] for row in answer.json["value"]] == [first, third]
    assert not any("@odata.context" in row for row in answer.json["value"])
    assert states(admin) == ["Converted", "New", "Converted"]


def test_entities_that_it_returns_are_shown_as_such(admin: Api) -> None:
    keys = [issued(admin), issued(admin)]
    query = "$select=id,status&$expand=Client($select=name)"
    answer = admin.post(f"/odata/Invoices/$each/Void?{query}", {"reason": "x"})
    assert [(row["id"], row["status"], row["Client"]["name"]) for row in answer.json["value"]] == [
        (key, "Void", "ACME") for key in keys
    ]
    assert answer.json["@odata.context"].endswith(f"#Collection({NS}.Invoice)")


def test_without_an_answer(admin: Api) -> None:
    leads(admin, "Ada")
    address = "/odata/Leads/$each/Convert"
    answer = admin.post(address, {}, headers={"Prefer": "return=minimal"})
    assert (answer.status_code, answer.text) == (204, "")
    assert answer.headers["Preference-Applied"] == "return=minimal"
    assert states(admin) == ["Converted"]
    nobody = "/odata/Leads/$filter(lastName eq 'Nobody')/$each/Convert"
    assert admin.post(nobody, {}).json["value"] == []


def test_one_that_cannot_undoes_all_and_is_named(admin: Api) -> None:
    first, second = leads(admin, "Ada", "Bob")
    admin.post(f"/odata/Leads({second})/Convert", {})
    answer = admin.post("/odata/Leads/$each/Convert", {})
    assert answer.status_code == 409
    assert answer.json["error"]["message"].startswith(f"Leads({second}): ")
    assert states(admin) == ["New", "Converted"]
    assert admin.get(f"/odata/Leads({first})").json["convertedAt"] is None


def test_what_has_a_secret_or_reaches_many_is_called_on_one_at_a_time(admin: Api) -> None:
    bound = [each for each in DECLARED if each.bound_to and each.changes and not each.proposed]
    assert bound
    for operation in bound:
        address = f"/odata/{operation.bound_to}s/$each/{NS}.{operation.name}"
        for answer in (
            admin.post(address, {}),
            admin.client.options(address, headers=admin.headers),
        ):
            assert answer.status_code == 404, operation.name
        assert f"one {operation.bound_to} at a time" in admin.post(address, {}).text


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("Leads/$each/Merge", {}, 404),
        ("Leads/$each/Nothing", {}, 405),
        ("Clients(1)/Contacts/$each/Merge", {}, 404),
        ("Leads/$each/Convert", {"If-Match": 'W/"1"'}, 400),
        ("Leads/$each/Convert", {"If-None-Match": "*"}, 400),
        ("Leads/$filter(lastNam eq 'x')/$each/Convert", {}, 400),
    ],
)
def test_what_each_does_not_take(
    admin: Api, address: str, headers: dict[str, str], status: int
) -> None:
    make(admin, "Clients", {"name": "ACME"})
    answer = admin.post(f"/odata/{address}", {}, headers=headers)
    assert answer.status_code == status, answer.text


def test_every_member_is_there_so_any_version_will_do(admin: Api) -> None:
    leads(admin, "Ada", "Bob")
    anything = {"If-Match": "*"}
    changed = admin.patch("/odata/Leads/$each", {"company": "ACME"}, headers=anything)
    assert changed.status_code == 204, changed.text
    assert admin.post("/odata/Leads/$each/Convert", {}, headers=anything).status_code == 200
    assert states(admin) == ["Converted", "Converted"]
    for condition in ({"If-Match": 'W/"1"'}, {"If-None-Match": "*"}):
        refused = admin.patch("/odata/Leads/$each", {"company": "x"}, headers=condition)
        assert refused.status_code == 400
    make(admin, "Tasks", {"title": "Call"})
    assert admin.delete("/odata/Tasks/$each", headers=anything).status_code == 204
    assert admin.get("/odata/Tasks/$count").text == "0"


def test_the_namespace_is_the_default_one(admin: Api) -> None:
    (lead,) = leads(admin, "Ada")
    assert admin.post(f"/odata/Leads({lead})/Convert", {}).status_code == 200
    schema = admin.get("/odata/$metadata?$format=json").json[NS]
    assert schema["@Org.OData.Core.V1.DefaultNamespace"] is True


# --- a function in queries ------------------------------------------------------------------------


@pytest.fixture
def late(admin: Api) -> int:
    """An open invoice due on 2026-01-31, and a draft."""
    key = new_invoice(admin, issueDate="2026-01-01", dueDate="2026-01-31")
    assert admin.post(f"/odata/Invoices({key})/Send", {"markOnly": True}).status_code == 200
    new_invoice(admin)
    return key


@pytest.mark.parametrize(
    ("call", "days"),
    [
        ("DaysOverdue(asOf=2026-01-31)", 0),
        ("DaysOverdue(asOf=2026-02-01)", 1),
        (f"{NS}.DaysOverdue(asOf=@d)?@d=2026-03-31", 59),
        ("DaysOverdue?asOf=2025-12-31", 0),
    ],
)
def test_it_is_called_by_its_address(admin: Api, late: int, call: str, days: int) -> None:
    answer = admin.get(f"/odata/Invoices({late})/{call}")
    assert answer.status_code == 200, answer.text
    assert answer.json["value"] == days
    accept = {"Accept": "application/json;odata.metadata=full"}
    full = admin.get(f"/odata/Invoices({late})/{call}", headers=accept)
    assert (full.json["@odata.type"], full.json["value"]) == ("#Int64", days)


@pytest.mark.parametrize("call", ["DaysOverdue(asOf=null)", "DaysOverdue(asOf=@d)",
                                  "DaysOverdue(asOf=@d)?@d=null"])  # fmt: skip
def test_null_for_what_may_be_left_out_is_as_if_it_was(admin: Api, late: int, call: str) -> None:
    without = admin.get(f"/odata/Invoices({late})/DaysOverdue").json["value"]
    answer = admin.get(f"/odata/Invoices({late})/{call}")
    assert answer.status_code == 200, answer.text
    assert answer.json["value"] == without > 0
    days = f"DaysOverdue(asOf=null) eq {without}"
    assert [row["id"] for row in found(admin, f"$filter={days}&$select=id")] == [late]


def test_a_parameter_is_given_once(admin: Api, late: int) -> None:
    call = "DaysOverdue(asOf=2026-01-31,asOf=2026-02-28)"
    error = admin.get(f"/odata/Invoices({late})/{call}")
    assert (error.status_code, "asOf must not appear more than once" in error.text) == (400, True)


def found(api: Api, query: str) -> Any:
    answer = api.get(f"/odata/Invoices?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json["value"]


def test_it_filters_sorts_and_is_computed(admin: Api, late: int) -> None:
    query = "$filter=DaysOverdue(asOf=@d) gt 30&$orderby=DaysOverdue(asOf=@d) desc&@d=2026-03-31"
    rows = found(admin, f"{query}&$compute={NS}.DaysOverdue(asOf=@d) as days&$select=id,days")
    assert [(row["id"], row["days"]) for row in rows] == [(late, 59)]
    assert found(admin, "$filter=DaysOverdue(asOf=2026-01-15) gt 0") == []
    (client,) = admin.get("/odata/Clients?$filter=Invoices/any(i:i/DaysOverdue() gt 0)"
                          "&$select=name").json["value"]  # fmt: skip
    assert client["name"] == "ACME"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("$filter=DaysOverdue(asOf='x') gt 0", 400),
        ("$filter=DaysOverdue(until=2026-01-01) gt 0", 400),
        ("$filter=DaysOverdu() gt 0", 400),
        ("$filter=Convert() eq 1", 400),
        ("$filter=$root/KbSearch(q='x') ne null", 501),
    ],
)
def test_what_is_no_function_of_an_expression(admin: Api, query: str, status: int) -> None:
    assert admin.get(f"/odata/Invoices?{query}").status_code == status
