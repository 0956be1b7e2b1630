"""Reads under the matrix: who sees what, in lists, by key, in $expand, $filter, $count, $apply."""

from __future__ import annotations

import pytest

from app.http.security import Caller
from tests import factories
from tests.container.conftest import Read, with_rights
from tests.factories import put


@pytest.mark.parametrize(
    "address",
    ["Leads", "Leads(1)", "Leads/$count", "Leads/$ref", "Leads(1)/company", "Leads?$top=0",
     "Leads?$apply=aggregate($count as n)"],
)  # fmt: skip
def test_a_set_that_a_role_may_not_read_is_403(read: Read, address: str) -> None:
    accountant = factories.make_user("Accountant")
    status, error = read(address, accountant)
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert "leads:read" in error["message"]


@pytest.mark.requirement("INS-05", "SEC-44")
@pytest.mark.parametrize(
    "address",
    ["Clients?$expand=Opportunities", "Clients?$filter=Opportunities/any()",
     "Clients?$filter=Opportunities/$count gt 0", "Clients?$orderby=Opportunities/$count",
     "Clients?$compute=Opportunities/$count as n", "Contacts?$filter=Client/Opportunities/any()",
     "Clients(1)/Opportunities", "Invoices?$expand=Client($expand=Opportunities)",
     "Clients?$apply=aggregate(Opportunities/$count as n)",
     "Clients?$filter=$root/Opportunities(1)/amount gt 5"],
)  # fmt: skip
def test_what_a_role_may_not_read_is_out_of_reach_by_any_way(read: Read, address: str) -> None:
    assert read(address, factories.make_user("Support"))[0] == 403
    assert read(address.replace("(1)", f"({factories.make_client()})"))[0] in (200, 404)


def test_a_star_expands_what_may_be_read(read: Read) -> None:
    client_id = factories.make_client()
    _, everything = read(f"Clients({client_id})?$expand=*")
    assert "Opportunities" in everything
    _, some = read(f"Clients({client_id})?$expand=*", factories.make_user("Support"))
    assert "Opportunities" not in some and "Invoices" in some


@pytest.mark.requirement("SEC-42")
def test_own_rows_are_all_that_a_narrowed_role_sees(read: Read, admin: Caller) -> None:
    mine = factories.make_client(name="Mine", owner_id=admin.user_id)
    other = factories.make_user("Sales")
    theirs = factories.make_client(name="Theirs", owner_id=other.user_id)
    contact = factories.make_contact(client_id=theirs, owner_id=admin.user_id)
    caller = with_rights(admin.user_id, clients_read="own", contacts_read="all")
    assert [row["id"] for row in read("Clients", caller)[1]["value"]] == [mine]
    assert read("Clients/$count", caller) == (200, "1")
    assert read(f"Clients({theirs})", caller)[0] == 404
    assert read(f"Clients({theirs})/name", caller)[0] == 404
    assert read(f"Clients({theirs})/Contacts", caller)[0] == 404
    assert read(f"Contacts({contact})?$expand=Client", caller)[1]["Client"] is None
    assert read(f"Contacts({contact})/Client", caller)[0] == 204
    for condition, found in (
        ("Client/name eq 'Theirs'", []),
        ("Client eq null", [contact]),
        ("Client/id eq null", [contact]),
    ):
        rows = read(f"Contacts?$filter={condition}", caller)[1]["value"]
        assert [row["id"] for row in rows] == found
    grouped = read("Contacts?$apply=groupby((Client/name))", caller)[1]["value"]
    assert grouped == [{"Client": None}]


def test_plans_are_shared_by_callers_of_one_profile_and_their_rows_are_not(read: Read) -> None:
    first, second = factories.make_user("Sales"), factories.make_user("Sales")
    rows = {
        caller.user_id: factories.make_client(owner_id=caller.user_id) for caller in (first, second)
    }
    for caller in (first, second, first):
        own = with_rights(caller.user_id, clients_read="own")
        assert [row["id"] for row in read("Clients", own)[1]["value"]] == [rows[caller.user_id]]


def test_viewers_read_published_articles_only(read: Read) -> None:
    draft, published = factories.make_article(), factories.make_article()
    put("KbArticle", published, status="Published")
    viewer = factories.make_user("Viewer")
    assert [row["id"] for row in read("KbArticles", viewer)[1]["value"]] == [published]
    assert read(f"KbArticles({draft})", viewer)[0] == 404
    assert read(f"KbArticles({published})/Revisions", viewer)[0] == 200
    assert read(f"KbArticles({draft})/Revisions", viewer)[0] == 404
    assert read("KbArticles/$count")[1] == "2"


def test_what_lies_in_the_trash_is_not_there(read: Read) -> None:
    document = factories.make_document(name="Contract")
    assert read(f"Documents({document})")[0] == 200
    put("Document", document, status="Deleted")
    assert read(f"Documents({document})")[0] == 404
    assert read("Documents")[1]["value"] == []
    assert read("Documents?$filter=name eq 'Contract'")[1]["value"] == []


@pytest.mark.requirement("SEC-44")
@pytest.mark.parametrize("name", ["passwordHash", "username", "status", "usernameKey", "kind"])
def test_a_column_without_a_property_does_not_exist(read: Read, name: str) -> None:
    assert read(f"Users?$filter={name} eq 'x'")[0] == 400
    assert read(f"Users?$select={name}")[0] == 400
    assert read(f"Users(1)/{name}")[0] == 404
    assert read(f"Clients?$filter=Owner/{name} eq 'x'")[0] == 400


def test_colleagues_are_known_by_name_and_mail(read: Read, admin: Caller) -> None:
    status, user = read(f"Users({admin.user_id})")
    assert status == 200
    assert set(user) == {"@odata.context", "id", "displayName", "email"}
