"""``If-Match`` and ``If-None-Match`` wherever they may stand; what an answer depends on."""

from __future__ import annotations

import pytest

from tests.reference.conftest import Reference

STALE = 'W/"77"'
CURRENT = 'W/"1"'


@pytest.mark.parametrize("rest", ["", "?$expand=Category", "/Name", "/Name/$value", "/Description"])
def test_a_read_of_another_version_is_refused(reference: Reference, rest: str) -> None:
    address = f"{reference.product()}{rest}"
    assert reference.send("GET", address, If_Match=STALE).status_code == 412
    for tag in (CURRENT, "*", f"{STALE}, {CURRENT}"):
        found = reference.send("GET", address, If_Match=tag)
        assert found.status_code in (200, 204)
        assert found.headers["ETag"] == CURRENT


def test_an_entity_that_is_known_is_not_sent_again(reference: Reference) -> None:
    address = reference.product()
    for rest in ("", "/Name", "/Name/$value", "/ShippingAddress"):
        found = reference.send("GET", address + rest, If_None_Match=CURRENT)
        assert (found.status_code, found.data) == (304, b"")
        assert reference.send("GET", address + rest, If_None_Match=STALE).status_code == 200


def test_what_the_tag_does_not_tell_of_is_sent_again(reference: Reference) -> None:
    """The tag says nothing of other rows, nor of which row it is that another one refers to."""
    product = reference.product()
    whole = f"{product}?$expand=Descriptions($select=Description)"
    assert reference.send("GET", whole, If_None_Match=CURRENT).status_code == 200
    language = f"ProductDescriptions(ProductID={reference.key()},LanguageKey='EN')/Product"
    found = reference.send("GET", f"/{language}")
    assert found.status_code == 200
    tag = found.headers["ETag"]
    assert reference.send("GET", f"/{language}", If_None_Match=tag).status_code == 200
    assert reference.send("GET", f"/{language}/Name", If_None_Match=tag).status_code == 200


def test_relations_are_changed_under_a_condition_only(reference: Reference) -> None:
    product = reference.product()
    category = reference.key("Furniture", "/Categories")
    body = {"@odata.id": f"Categories({category})"}
    before = reference.get(f"{product}/Category")["Name"]
    for method, given in (("PUT", body), ("DELETE", None)):
        for condition in ({"If_Match": STALE}, {"If_None_Match": "*"}, {"If_None_Match": CURRENT}):
            refused = reference.send(method, f"{product}/Category/$ref", given, **condition)
            assert refused.status_code == 412, (method, condition)
    other = {"@odata.id": f"Products({reference.key('Smartphone')})"}
    many = f"{product}/RelatedProducts/$ref"
    assert reference.send("POST", many, other, If_Match=STALE).status_code == 412
    assert reference.get(f"{product}/Category")["Name"] == before
    assert reference.get(many)["value"] == []
    assert "ETag" not in reference.send("GET", f"{product}/Category/$ref").headers
    changed = reference.send("PUT", f"{product}/Category/$ref", body, If_Match=CURRENT)
    assert changed.status_code == 204
    assert reference.get(f"{product}/Category")["Name"] == "Furniture"


def test_actions_are_done_under_a_condition_only(reference: Reference) -> None:
    product = reference.product()
    action = f"{product}/ComplianceService.IncreasePrice"
    price = reference.get(product)["Price"]
    for condition in ({"If_Match": STALE}, {"If_None_Match": "*"}, {"If_None_Match": CURRENT}):
        assert reference.send("POST", action, {"amount": 1}, **condition).status_code == 412
    assert reference.get(product)["Price"] == price
    for condition in ({"If_Match": CURRENT}, {"If_None_Match": CURRENT}):  # it is 2 by then
        assert reference.send("POST", action, {"amount": 1}, **condition).status_code == 204
    assert reference.get(product)["Price"] == price + 2


@pytest.mark.parametrize(
    "address",
    ["/Products", "/Products?$top=1", "/Products/$count", "/Products/$ref", "/$crossjoin(Products)",
     "/Categories?$filter=false"],
)  # fmt: skip
def test_what_has_no_tag_has_not_the_one_that_is_named(reference: Reference, address: str) -> None:
    refused = reference.send("GET", address, If_Match=CURRENT)
    assert refused.status_code == 412
    assert "has no ETag" in refused.json["error"]["message"]
    for condition in ({"If_Match": "*"}, {"If_None_Match": CURRENT}, {"If_None_Match": "*"}):
        assert reference.send("GET", address, **condition).status_code == 200
    assert reference.send("GET", "/Products?$filter=Nam", If_Match=CURRENT).status_code == 400


def test_nothing_is_made_or_done_under_the_tag_of_something_else(reference: Reference) -> None:
    products = reference.get("/Products/$count")
    category = f"Categories({reference.key('Furniture', '/Categories')})"
    tried = {
        "/Products": {"Name": "New", "Price": 1},
        f"/{category}/Products": {"Name": "New", "Price": 1},
        "/Process": {"percentage": 50},
        "/Products/ComplianceService.MarkAllAsReviewed": {},
    }
    price = reference.get(reference.product())["Price"]
    for address, body in tried.items():
        assert reference.send("POST", address, body, If_Match=CURRENT).status_code == 412, address
    assert reference.get("/Products/$count") == products
    assert reference.get(reference.product())["Price"] == price
    made = reference.send("POST", "/Products", tried["/Products"], If_None_Match="*")
    assert made.status_code == 201
    assert reference.send("POST", "/ResetProducts", {}, If_Match="*").status_code == 204


def test_answers_say_what_they_depend_on(reference: Reference) -> None:
    for address in (
        "/",
        "/$metadata",
        "/Products?$top=1",
        "/Products/$count",
        "/Nothing",
        "/Products?$x",
    ):
        assert reference.send("GET", address).headers["Vary"] == "Accept, OData-MaxVersion, Prefer"


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        ("4.0", "4.0"),
        ("4.01", "4.01"),
        ("4.02", "4.01"),
        ("5.0", "4.01"),
        ("4", "4.0"),
        ("x", "4.0"),
    ],
)
def test_errors_are_told_in_the_version_that_was_asked_for(
    reference: Reference, asked: str, spoken: str
) -> None:
    for address in ("/Nothing", "/Products?$filter=", "/Products(1"):
        refused = reference.send("GET", address, OData_MaxVersion=asked)
        assert refused.status_code >= 400
        assert refused.headers["OData-Version"] == spoken


def test_what_an_address_takes_is_told_by_options(reference: Reference) -> None:
    allowed = {
        "/ReadOnlyItems": "GET, HEAD, OPTIONS",
        "/Company": "GET, HEAD, PATCH, PUT, OPTIONS",
        "/Process": "POST, OPTIONS",
        "/Products/GetAveragePrice()": "GET, HEAD, OPTIONS",
    }
    for address, methods in allowed.items():
        found = reference.send("OPTIONS", address)
        assert (found.status_code, found.headers["Allow"]) == (204, methods)


@pytest.mark.parametrize("address", ["/Products/$count", "/Products/$ref", "/$all"])
def test_what_can_only_be_read_says_so(reference: Reference, address: str) -> None:
    for method in ("POST", "PATCH", "PUT", "DELETE"):
        refused = reference.send(method, address, {})
        assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/json;q=0.1, application/xml", "application/xml"),
        ("application/xml;q=0.1, application/json", "application/json"),
        ("text/html, application/json;q=0.5, */*;q=0.4", "application/json"),
        ("application/json;q=0, */*", "application/xml"),
        ("application/json, application/xml", "application/json"),
    ],
)
def test_metadata_comes_in_the_form_that_is_liked_best(
    reference: Reference, accept: str, media_type: str
) -> None:
    assert reference.send("GET", "/$metadata", Accept=accept).content_type == media_type


def test_metadata_in_a_form_that_there_is_not(reference: Reference) -> None:
    for accept in ("text/html", "application/json;q=0", "application/json;odata.metadata=much"):
        assert reference.send("GET", "/$metadata", Accept=accept).status_code == 406
