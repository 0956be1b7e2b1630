"""What the public suite writes to the reference model, and how it is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.conftest import Reference

NS = "ComplianceService"
NOWHERE = "00000000-0000-0000-0000-000000000000"


def test_name_and_price_make_a_product(reference: Reference) -> None:
    answer = reference.send(
        "POST", "/Products", {"Name": "Pen", "Price": 1.5, "ID": NOWHERE, "CreatedAt": "2001-01-01"}
    )
    assert answer.status_code == 201
    row = answer.json
    assert row["ID"] != NOWHERE and not row["CreatedAt"].startswith("2001")
    assert (row["Rating"], row["Status"], row["ProductType"]) == (0, "None", "Product")
    assert reference.send("GET", answer.headers["Location"]).json["Name"] == "Pen"


@pytest.mark.parametrize("status", [1, "InStock"], ids=["number", "name"])
def test_flags_are_taken_by_number_and_by_name(reference: Reference, status: Any) -> None:
    body = {"Name": "Pen", "Price": 1, "Status": status}
    assert reference.send("POST", "/Products", body).json["Status"] == "InStock"
    body["Status"] = "InStock,Featured"
    assert reference.send("POST", "/Products", body).json["Status"] == "InStock,Featured"


@pytest.mark.parametrize(
    "body",
    [
        {"Price": 1},
        {"Name": "Pen"},
        {"Name": "Pen", "Price": "free"},
        {"Name": "x" * 101, "Price": 1},
        {"Name": "Pen", "Price": 1, "Rating": 256},
        {"Name": "Pen", "Price": 1, "Temperature": -129},
        {"Name": "Pen", "Price": 1, "Quantity": 32768},
        {"Name": "Pen", "Price": 1, "Status": 16},
        {"Name": "Pen", "Price": 1, "Nothing": 1},
        {"Name": "Pen", "Price": 1, "Location": "here"},
        {"Name": "Pen", "Price": 1, "ShippingAddress": {"Unknown": 1}},
        {"Name": "Pen", "Price": 1, "ShippingAddress": {"State": "Texas"}},
        {"Name": "Pen", "Price": 1, "Descriptions": [{"LanguageKey": "EN", "Description": 5}]},
        {"Name": "Pen", "Price": 1, "Category@odata.bind": "InvalidFormat"},
        {"Name": "Pen", "Price": 1, "Category@odata.bind": f"Categories({NOWHERE})"},
        {"Name": "Pen", "Price": 1, "@odata.type": f"#{NS}.Category"},
        [],
    ],
)
def test_a_body_that_is_wrong_makes_nothing(reference: Reference, body: Any) -> None:
    before = reference.send("GET", "/Products/$count").text
    answer = reference.send("POST", "/Products", body)
    assert answer.status_code == 400
    assert answer.json["error"]["message"]
    assert reference.send("GET", "/Products/$count").text == before


@pytest.mark.parametrize(
    ("method", "body", "kind", "statuses"),
    [
        ("POST", b"Name=x", "text/plain", (415,)),
        ("POST", b"{}", "", (415,)),
        ("POST", b"{", "application/json", (400,)),
        ("PATCH", b"{}", "", (400, 415)),
    ],
)
def test_media_types_of_bodies(
    reference: Reference, method: str, body: bytes, kind: str, statuses: tuple[int, ...]
) -> None:
    address = "/Products" if method == "POST" else reference.product()
    answer = reference.send(method, address, body, Content_Type=kind)
    assert answer.status_code in statuses
    if 415 in statuses:
        assert "Content-Type" in answer.json["error"]["message"]


def test_all_types_come_back_as_they_were_sent(reference: Reference) -> None:
    body = {
        "Name": "Everything", "Price": 0.1, "Rating": 255, "Temperature": -128,
        "Quantity": -32768, "Weight": 1.5, "Data": "AQID", "ReleaseDate": "2020-02-29",
        "OpenTime": "23:59:59", "ShippingTime": "-PT1.5S", "SerialNumber": "S-1",
        "ShippingAddress": {"City": "Bonn"}, "Dimensions": {"Length": 1.25, "Unit": "cm"},
        "Location": {"type": "Point", "coordinates": [7.1, 50.7]},
    }  # fmt: skip
    row = reference.send("POST", "/Products", body).json
    for name in ("Rating", "Temperature", "Quantity", "Weight", "Data", "ReleaseDate", "Location"):
        assert row[name] == body[name]
    assert row["ShippingTime"] == "-PT1.5S"
    assert row["OpenTime"].startswith("23:59:59")
    assert row["ShippingAddress"]["City"] == "Bonn"
    assert row["Dimensions"] == {"Length": 1.25, "Width": None, "Height": None, "Unit": "cm"}


def test_a_row_of_a_derived_type_is_made_by_its_name(reference: Reference) -> None:
    body = {
        "@odata.type": f"#{NS}.SpecialProduct", "Name": "Special", "Price": 5,
        "ProductType": "SpecialProduct", "SpecialFeature": "glows",
    }  # fmt: skip
    answer = reference.send("POST", "/Products", body)
    assert answer.status_code == 201
    assert answer.json["SpecialFeature"] == "glows"
    assert "Special" in reference.names("", f"/Products/{NS}.SpecialProduct")
    through = reference.send("POST", f"/Products/{NS}.SpecialProduct", {"Name": "A", "Price": 1})
    assert through.json["ProductType"] == "SpecialProduct"
    plain = reference.send("POST", "/Products", {"Name": "B", "Price": 1, "SpecialFeature": "x"})
    assert plain.status_code == 400


def test_preferences_of_answers(reference: Reference) -> None:
    body = {"Name": "Pen", "Price": 1}
    made = reference.send("POST", "/Products", body, Prefer="return=minimal")
    assert made.status_code == 204 and not made.data
    assert made.headers["Location"] and made.headers["OData-EntityId"]
    changed = reference.send(
        "PATCH", made.headers["Location"], {"Price": 2}, Prefer="return=minimal"
    )
    assert changed.status_code == 204 and not changed.data
    assert changed.headers["Preference-Applied"] == "return=minimal"


def test_a_change_keeps_what_it_does_not_name(reference: Reference) -> None:
    product = reference.product()
    before = reference.get(product)
    answer = reference.send(
        "PATCH", product, {"Price": 1, "SerialNumber": "new", "ID": NOWHERE, "CreatedAt": None}
    )
    assert answer.status_code in (200, 204)
    after = reference.get(product)
    assert after["Price"] == 1 and after["Version"] == before["Version"] + 1
    for name in ("ID", "CreatedAt", "SerialNumber", "Status", "ShippingAddress"):
        assert after[name] == before[name]


def test_a_replacement_resets_what_it_leaves_out(reference: Reference) -> None:
    product = reference.product("Coffee Mug")
    assert reference.send("PUT", product, {"Name": "Cup"}).status_code in (200, 204)
    after = reference.get(product)
    assert (after["Name"], after["Price"], after["Description"]) == ("Cup", 0, None)
    assert after["CategoryID"] is None and after["ShippingAddress"] is None


@pytest.mark.parametrize("headers", [{}, {"If_Match": "*"}])
def test_nothing_is_made_by_changing_what_is_not_there(
    reference: Reference, headers: dict[str, str]
) -> None:
    address = f"/Products({NOWHERE})"
    assert reference.send("PATCH", address, {"Name": "x"}, **headers).status_code == 404
    assert reference.send("PUT", address, {"Name": "x", "Price": 1}).status_code == 404
    assert reference.send("DELETE", address).status_code == 404


def test_entity_tags_guard_changes(reference: Reference) -> None:
    product = reference.product()
    answer = reference.send("GET", product)
    tag = answer.headers["ETag"]
    assert answer.json["@odata.etag"] == tag
    unchanged = reference.send("GET", product, If_None_Match=tag)
    assert unchanged.status_code == 304 and not unchanged.data
    stale = reference.send("PATCH", product, {"Price": 1}, If_Match='W/"99"')
    assert stale.status_code == 412
    existing = reference.send("PATCH", product, {"Price": 1}, If_None_Match="*")
    assert existing.status_code == 412
    assert reference.send("PATCH", product, {"Price": 1}, If_Match=tag).status_code in (200, 204)
    assert reference.send("DELETE", product, If_Match=tag).status_code == 412
    assert reference.send("DELETE", product, If_Match="*").status_code == 204


def test_deep_insertion_and_links(reference: Reference) -> None:
    category = reference.key("Kitchen", "/Categories")
    body = {
        "Name": "Kettle", "Price": 20, "Category@odata.bind": f"Categories({category})",
        "Descriptions": [{"LanguageKey": "EN", "Description": "Boils"}],
    }  # fmt: skip
    made = reference.send("POST", "/Products", body)
    assert made.status_code == 201
    kettle = f"/Products({made.json['ID']})"
    shown = reference.get(f"{kettle}?$expand=Category,Descriptions")
    assert shown["Category"]["Name"] == "Kitchen"
    assert [one["Description"] for one in shown["Descriptions"]] == ["Boils"]
    other = reference.key("Furniture", "/Categories")
    link = {"@odata.id": f"http://localhost/Categories({other})"}
    assert reference.send("PUT", f"{kettle}/Category/$ref", link).status_code == 204
    assert reference.get(f"{kettle}/Category")["Name"] == "Furniture"
    assert reference.send("DELETE", f"{kettle}/Category/$ref").status_code == 204
    assert reference.send("GET", f"{kettle}/Category").status_code == 204


def test_products_are_related_to_products(reference: Reference) -> None:
    product, mouse = reference.product(), reference.key("Wireless Mouse")
    assert reference.get(f"{product}/RelatedProducts")["value"] == []
    link = {"@odata.id": f"Products({mouse})"}
    added = reference.send("POST", f"{product}/RelatedProducts/$ref", link)
    assert added.status_code == 204
    assert reference.names("", f"{product}/RelatedProducts") == ["Wireless Mouse"]
    assert reference.names("$filter=RelatedProducts/any(r:r/Name eq 'Wireless Mouse')") == [
        "Laptop"
    ]
    removed = reference.send("DELETE", f"{product}/RelatedProducts({mouse})/$ref")
    assert removed.status_code == 204
    assert reference.names("", f"{product}/RelatedProducts") == []


def test_keys_that_clients_give_are_given_once(reference: Reference) -> None:
    body = {"ProductID": reference.key(), "LanguageKey": "FR", "Description": "Portable"}
    assert reference.send("POST", "/ProductDescriptions", body).status_code == 201
    assert reference.send("POST", "/ProductDescriptions", body).status_code == 409
    unknown = {**body, "ProductID": NOWHERE}
    assert reference.send("POST", "/ProductDescriptions", unknown).status_code == 400
    twin = {"Name": "Kitchen"}
    assert reference.send("POST", "/Categories", twin).status_code == 409


def test_deleting_a_product_takes_its_descriptions_along(reference: Reference) -> None:
    key = reference.key()
    assert reference.send("DELETE", f"/Products({key})").status_code == 204
    left = reference.get(f"/ProductDescriptions?$filter=ProductID eq {key}")
    assert left["value"] == []


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_what_is_declared_read_only_is(reference: Reference, method: str) -> None:
    address = "/ReadOnlyItems"
    if method != "POST":
        address += f"({reference.key('Read-only item A', '/ReadOnlyItems')})"
    answer = reference.send(method, address, None if method == "DELETE" else {"Name": "x"})
    assert answer.status_code == 405
    assert answer.json["error"]["code"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_set_takes_no_change_as_a_whole(reference: Reference, method: str) -> None:
    answer = reference.send(method, "/Categories", {"Name": "x"})
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]


def test_media_entities_are_made_of_bytes_or_of_json(reference: Reference) -> None:
    picture = b"\x89PNG bytes"
    made = reference.send("POST", "/MediaItems", picture, Content_Type="image/png")
    assert made.status_code == 201
    item = f"/MediaItems({made.json['ID']})"
    assert any(name.startswith("@odata.media") for name in made.json)
    value = reference.send("GET", f"{item}/$value")
    assert (value.data, value.headers["Content-Type"]) == (picture, "image/png")
    replaced = reference.send("PUT", f"{item}/$value", b"other", Content_Type="text/plain")
    assert replaced.status_code in (200, 204)
    row = reference.get(item)
    assert (row["Size"], row["ContentType"]) == (5, "text/plain")
    assert reference.send("DELETE", f"{item}/$value").status_code in (200, 204)
    largest = 2**63 - 1
    body = {
        "Name": "By JSON", "ContentType": "text/plain", "Size": largest,
        "CreatedAt": "2024-01-01T00:00:00Z", "ModifiedAt": "2024-01-01T00:00:00Z",
    }  # fmt: skip
    given = reference.send("POST", "/MediaItems", body)
    assert given.status_code == 201 and given.json["Size"] == largest
    beyond = reference.send("GET", "/MediaItems?$filter=Size eq 9223372036854775808")
    assert beyond.status_code == 400


def test_stream_properties_are_read_and_written(reference: Reference) -> None:
    product = reference.product()
    empty = reference.send("GET", f"{product}/Photo")
    assert empty.status_code == 200
    photo = {"Content_Type": "image/gif"}
    assert reference.send("PUT", f"{product}/Photo", b"GIF89a", **photo).status_code == 204
    for address in (f"{product}/Photo", f"{product}/Photo/$value"):
        answer = reference.send("GET", address)
        assert (answer.data, answer.headers["Content-Type"]) == (b"GIF89a", "image/gif")
    shown = reference.get(f"{product}?$select=Photo")
    assert shown["Photo@odata.mediaReadLink"].endswith("/Photo")
    assert "Photo" not in reference.get(product)
    full = reference.get(product, Accept="application/json;odata.metadata=full")
    assert full["Photo@odata.mediaReadLink"].endswith("/Photo")
    assert reference.send("DELETE", f"{product}/Photo").status_code == 204
    missing = reference.send("GET", f"/Products({NOWHERE})/Photo")
    assert missing.status_code == 404


def test_the_singleton_is_read_and_changed(reference: Reference) -> None:
    company = reference.send("GET", "/Company")
    assert company.json["Name"] == "TechStore Inc."
    assert company.json["@odata.context"].endswith("#Company")
    assert reference.get("/Company/Name")["value"] == "TechStore Inc."
    tag = company.headers["ETag"]
    changed = reference.send("PATCH", "/Company", {"CEO": "Ada"}, If_Match=tag)
    assert changed.status_code in (200, 204)
    assert reference.send("PATCH", "/Company", {"CEO": "B"}, If_Match=tag).status_code == 412
    body = reference.get("/Company")
    assert (body["CEO"], body["Version"]) == ("Ada", 2)
    assert reference.send("PUT", "/Company", body).status_code in (200, 204)
    assert reference.send("POST", "/Company", body).status_code == 405
    assert reference.send("DELETE", "/Company").status_code == 405


SPECIAL = "ComplianceService.SpecialProduct"


def test_a_path_to_a_derived_type_changes_nothing_else(reference: Reference) -> None:
    mouse = reference.product("Wireless Mouse")
    before = reference.get(mouse)
    alone = f"/Products/{SPECIAL}({reference.key('Wireless Mouse')})"
    for address in (f"{mouse}/{SPECIAL}", alone):
        assert reference.send("GET", address).status_code == 404
        assert reference.send("DELETE", address).status_code == 404
        for method in ("PATCH", "PUT"):
            body = {"Name": "X", "Price": 1, "SpecialProperty": "x"}
            assert reference.send(method, address, body).status_code == 404, method
        assert reference.send("PUT", f"{address}/Name", {"value": "X"}).status_code == 404
        assert reference.send("DELETE", f"{address}/Description").status_code == 404
        assert reference.send("DELETE", f"{address}/Category/$ref").status_code == 404
        action = f"{address}/ComplianceService.IncreasePrice"
        assert reference.send("POST", action, {"amount": 1}).status_code == 404
    typed = {"@odata.type": f"#{SPECIAL}", "SpecialProperty": "x"}
    refused = reference.send("PATCH", mouse, typed)
    assert refused.status_code == 400
    assert refused.json["error"]["details"][0]["target"] == "@odata.type"
    assert reference.get(mouse) == before


def test_an_entity_of_a_derived_type_is_changed_as_such(reference: Reference) -> None:
    laptop = f"{reference.product()}/{SPECIAL}"
    assert reference.send("PATCH", laptop, {"SpecialProperty": "a"}).status_code == 200
    assert reference.get(f"{laptop}/SpecialProperty")["value"] == "a"
    put = {"Name": "Laptop", "Price": 2, "SpecialProperty": "b"}
    assert reference.send("PUT", laptop, put).status_code == 200
    assert reference.get(laptop)["SpecialProperty"] == "b"
    assert reference.send("PUT", f"{laptop}/SpecialProperty", {"value": "c"}).status_code == 204
    typed = {"@odata.type": f"#{SPECIAL}", "Name": "D"}
    assert reference.send("PATCH", reference.product(), typed).status_code == 200
    assert reference.get(laptop)["SpecialProperty"] == "c"
    assert reference.send("DELETE", laptop).status_code == 204
    assert reference.names("$filter=Name eq 'D'") == []


def test_each_of_a_derived_type_is_changed_as_such(reference: Reference) -> None:
    special = f"/Products/{SPECIAL}"
    plain = reference.get("/Products?$filter=not isof(ComplianceService.SpecialProduct)")["value"]
    assert reference.send("PATCH", f"{special}/$each", {"SpecialProperty": "a"}).status_code == 204
    rows = reference.get(special)["value"]
    assert [row["SpecialProperty"] for row in rows] == ["a", "a", "a"]
    one = f"{special}/$filter(Name eq 'Laptop')/$each/ComplianceService.IncreasePrice"
    assert reference.send("POST", one, {"amount": 1}).status_code == 204
    assert reference.send("DELETE", f"{special}/$each").status_code == 204
    assert reference.get("/Products")["value"] == plain


def test_what_is_nested_needs_no_key_of_its_owner(reference: Reference) -> None:
    shown = f"{reference.product()}?$expand=Descriptions($select=LanguageKey,Description)"

    def change(member: str, *items: Any) -> Any:
        changed = reference.send("PATCH", shown, {member: items})
        assert changed.status_code == 200, changed.text
        rows = changed.json["Descriptions"]
        return {row["LanguageKey"]: row["Description"] for row in rows}

    german = reference.get(f"{reference.product()}/Descriptions('DE')")["Description"]
    all_three = (
        {"LanguageKey": "EN", "Description": "one"},
        {"LanguageKey": "IT", "Description": "uno"},
        {"LanguageKey": "DE"},
    )
    assert change("Descriptions", *all_three) == {"DE": german, "EN": "one", "IT": "uno"}
    gone = {"@removed": {"reason": "deleted"}, "LanguageKey": "EN"}
    changed = {"LanguageKey": "IT", "Description": "due"}
    new = {"LanguageKey": "ES", "Description": "dos"}
    after = {"DE": german, "ES": "dos", "IT": "due"}
    assert change("Descriptions@delta", changed, gone, new) == after


def test_numbers_in_texts_are_taken_where_they_are_announced(reference: Reference) -> None:
    body = {"Name": "Wide", "Amount": "12345678901234567890.123456789012345678"}
    kind = "application/json;IEEE754Compatible=true"
    made = reference.send("POST", "/DecimalSamples", body, Content_Type=kind, Accept=kind)
    assert made.status_code == 201
    plain = reference.send("POST", "/DecimalSamples", body)
    assert plain.status_code == 400
    found = reference.get(
        "/DecimalSamples?$filter=Amount gt 12345678901234567890.123456789012345677"
        "&$orderby=Amount desc"
    )
    assert [row["Name"] for row in found["value"]] == ["Wide"]


def test_nan_is_refused_and_infinity_is_kept(reference: Reference) -> None:
    refused = reference.send("POST", "/Products", {"Name": "A", "Price": 1, "Weight": "NaN"})
    assert refused.status_code == 400
    assert refused.json["error"]["details"][0]["target"] == "Weight"
    made = reference.send("POST", "/Products", {"Name": "A", "Price": 1, "Weight": "-INF"})
    assert (made.status_code, made.json["Weight"]) == (201, "-INF")
    assert reference.names("$filter=Weight eq -INF") == ["A"]
