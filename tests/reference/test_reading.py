"""What the public suite reads of the reference model: types, casts, filters, addresses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference import model
from tests.reference.conftest import Reference

NS = "ComplianceService"


def test_the_service_document_has_every_set_and_the_singleton(reference: Reference) -> None:
    document = reference.get("/")
    assert all(one["url"] for one in document["value"])
    kinds = {
        one["name"]: one["kind"] for one in document["value"] if one["kind"] != "FunctionImport"
    }
    assert document["@odata.context"].endswith("$metadata")
    assert kinds == {
        "Products": "EntitySet",
        "Categories": "EntitySet",
        "ProductDescriptions": "EntitySet",
        "MediaItems": "EntitySet",
        "ReadOnlyItems": "EntitySet",
        "DecimalSamples": "EntitySet",
        "Company": "Singleton",
    }


def test_rows_come_in_the_order_of_insertion(reference: Reference) -> None:
    assert reference.names("$top=1000") == [
        "Laptop", "Wireless Mouse", "Coffee Mug", "Office Chair", "Smartphone",
        "Premium Laptop Pro", "Gaming Mouse Ultra",
    ]  # fmt: skip


def test_every_primitive_type_is_written_as_json_says(reference: Reference) -> None:
    row = reference.get(reference.product())
    assert {name: row[name] for name in (
        "Rating", "Temperature", "Quantity", "Weight", "Data", "ReleaseDate", "Status",
    )} == {
        "Rating": 200, "Temperature": -10, "Quantity": 1200, "Weight": 3.14, "Data": "dGVzdA",
        "ReleaseDate": "2024-01-15", "Status": "InStock,Featured",
    }  # fmt: skip
    assert row["OpenTime"].startswith("09:30:00")
    assert row["ShippingTime"].startswith("P")
    assert row["Location"] == {"type": "Point", "coordinates": [-122.3321, 47.6062]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Status has ComplianceService.ProductStatus'Featured'",
         ["Laptop", "Smartphone", "Premium Laptop Pro"]),
        ("Status eq 9", ["Laptop", "Premium Laptop Pro"]),
        ("Status eq 'InStock,Featured'", ["Laptop", "Premium Laptop Pro"]),
        ("Status eq null", []),
        ("Status eq -1", []),
        ("Status eq 256", []),
        ("cast(Status,'Edm.Byte') gt 9", ["Smartphone"]),
        ("Weight eq 3.14f", ["Laptop"]),
        ("Weight eq 3.14", ["Laptop"]),
        ("Weight eq INF", []),
        ("Weight eq NaN", []),
        ("Data eq binary'dGVzdA'", ["Laptop"]),
        ("Data eq binary''", ["Coffee Mug"]),
        ("Data eq binary'dGVzdA' and isof(Data,'Edm.Binary')", ["Laptop"]),
        ("ReleaseDate eq 2024-01-15", ["Laptop"]),
        ("OpenTime eq 09:30:00", ["Laptop"]),
        ("ShippingTime eq duration'P1D' and ProcessingTime eq duration'PT45S'", ["Laptop"]),
        ("Offset lt duration'PT0S'", None),
        ("ShippingAddress/City eq 'Seattle'", None),
        ("ShippingAddress eq null", ["Office Chair"]),
        ("ShippingAddress ne null and Dimensions/Length gt 35", ["Laptop", "Premium Laptop Pro"]),
        ("Category/Name eq 'Kitchen'", ["Coffee Mug"]),
        ("Category eq null", []),
        ("Descriptions/any(d:d/CustomName eq 'Promo')", ["Laptop"]),
        ("Descriptions/any(d:d/LanguageKey eq 'EN' and d/Product/Name eq 'Coffee Mug')",
         ["Coffee Mug"]),
        ("Descriptions/$count($filter=LanguageKey eq 'EN') eq 0", None),
        (f"isof('{NS}.SpecialProduct')", ["Laptop", "Premium Laptop Pro", "Gaming Mouse Ultra"]),
        (f"not isof({NS}.SpecialProduct) and Price gt 500", ["Smartphone"]),
        (f"{NS}.SpecialProduct/SpecialProperty eq 'Extended warranty included'", ["Laptop"]),
        (f"{NS}.SpecialProduct/SpecialProperty eq null",
         ["Wireless Mouse", "Coffee Mug", "Office Chair", "Smartphone"]),
        ("ProductType eq 'SpecialProduct' and contains(Name,'Mouse')", ["Gaming Mouse Ultra"]),
        ("cast(ID,'Edm.String') ne null and Name eq 'Laptop'", ["Laptop"]),
    ],
)  # fmt: skip
def test_filters_on_every_type(reference: Reference, text: str, names: list[str] | None) -> None:
    found = reference.names(f"$filter={text}")
    if names is not None:
        assert found == names


@pytest.mark.parametrize(
    "text",
    [
        "year(Name) eq 2024", "Name eq 2024-01-15", "ID eq invalid-guid-format",
        "ShippingTime eq duration'invalid'", "Data eq binary'!!!'", "ShippingAddress/Unknown eq 1",
        "Price eq 'x'", "geo.distance(Location) lt 1", "geo.invalid(Location) lt 1",
        f"isof('{NS}.InvalidType')", f"{NS}.Category/Name eq 'x'", "Photo eq null",
    ],
)  # fmt: skip
def test_what_is_wrongly_typed_is_refused(reference: Reference, text: str) -> None:
    answer = reference.send("GET", f"/Products?$filter={text}")
    assert answer.status_code == 400
    assert set(answer.json) == {"error"}
    assert answer.json["error"]["code"] and answer.json["error"]["message"]


@pytest.mark.parametrize("function", ["geo.distance(Location,{}) lt 10", "geo.length(Route) gt 1"])
def test_geographic_functions_are_recognised_and_not_offered(
    reference: Reference, function: str
) -> None:
    text = function.format("geography'SRID=4326;Point(-122.1 47.6)'")
    assert reference.send("GET", f"/Products?$filter={text}").status_code == 501


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("$filter=Name eq", "invalid $filter"),
        ("$filtre=Name eq 'x'", "unknown query option"),
        ("$top=1&$top=2", "must not appear more than once"),
        ("$compute=InvalidSyntax", "invalid compute expression format"),
        ("$filter=ShippingAddress/Unknown eq 'x'", "shippingaddress/unknown"),
    ],
)
def test_messages_say_what_clients_look_for(reference: Reference, query: str, words: str) -> None:
    answer = reference.send("GET", f"/Products?{query}")
    assert answer.status_code == 400
    assert words in answer.json["error"]["message"].lower()


def test_a_missing_entity_does_not_exist(reference: Reference) -> None:
    answer = reference.send("GET", "/Products(00000000-0000-0000-0000-000000000000)")
    assert answer.status_code == 404
    assert "does not exist" in answer.json["error"]["message"]


def test_casts_lead_to_the_rows_of_a_derived_type(reference: Reference) -> None:
    rows = reference.get(f"/Products/{NS}.SpecialProduct")
    assert rows["@odata.context"].endswith(f"#Products/{NS}.SpecialProduct")
    assert {row["ProductType"] for row in rows["value"]} == {"SpecialProduct"}
    product = reference.product()
    one = reference.get(f"{product}/{NS}.SpecialProduct/SpecialProperty")
    assert one["value"] == "Extended warranty included"
    assert reference.get(f"{product}/{NS}.SpecialProduct/Category")["Name"] == "Electronics"
    mug = reference.product("Coffee Mug")
    assert reference.send("GET", f"{mug}/{NS}.SpecialProduct").status_code == 404
    assert reference.send("GET", f"/Products/{NS}.InvalidType").status_code == 404
    count = reference.send("GET", f"/Products/{NS}.SpecialProduct/$count")
    assert count.text == "3"


def test_rows_of_a_derived_type_say_so_and_show_what_they_add(reference: Reference) -> None:
    rows = {row["Name"]: row for row in reference.get("/Products")["value"]}
    assert rows["Laptop"]["@odata.type"] == f"#{NS}.SpecialProduct"
    assert rows["Laptop"]["SpecialFeature"] == "Premium support"
    assert "@odata.type" not in rows["Coffee Mug"]
    assert "SpecialFeature" not in rows["Coffee Mug"]


def test_properties_of_a_derived_type_are_selected_by_their_cast(reference: Reference) -> None:
    answer = reference.get(f"/Products?$select=Name,{NS}.SpecialProduct/SpecialFeature")
    rows = {row["Name"]: row for row in answer["value"]}
    assert answer["@odata.context"].endswith(f"#Products(Name,{NS}.SpecialProduct/SpecialFeature)")
    assert rows["Laptop"]["SpecialFeature"] == "Premium support"
    assert "SpecialFeature" not in rows["Smartphone"]
    refused = reference.send("GET", f"/Products?$select={NS}.SpecialProduct/Nothing")
    assert refused.status_code == 400


@pytest.mark.parametrize("select", ["*", "*,Name", f"*,{NS}.SpecialProduct/SpecialFeature"])
def test_a_star_selects_what_is_shown_unasked(reference: Reference, select: str) -> None:
    whole, starred = (reference.get(address)["value"] for address in (
        "/Products", f"/Products?$select={select}"
    ))  # fmt: skip
    assert any("SpecialFeature" in row for row in whole)
    assert starred == whole


def test_keys_of_several_parts_and_keys_as_segments(reference: Reference) -> None:
    key = reference.key()
    one = reference.get(f"/ProductDescriptions(ProductID={key},LanguageKey='EN')")
    assert one["CustomName"] == "Promo"
    assert reference.get(f"/Products(ID={key})")["Name"] == "Laptop"
    assert reference.get(f"/Products/{key}", OData_MaxVersion="4.01")["Name"] == "Laptop"
    nested = reference.get(f"/Products({key})/Descriptions(ProductID={key},LanguageKey='DE')")
    assert nested["LanguageKey"] == "DE"
    whole = reference.get("/ProductDescriptions?$select=LanguageKey&$top=1")
    assert list(whole["value"][0]) == ["@odata.id", "LanguageKey"]


@pytest.mark.parametrize(
    ("address", "statuses"),
    [
        ("/Products//", (400, 404)),
        ("/Products/$value", (400, 404)),
        ("/Products('unclosed)", (400,)),
        ("/Products(1)", (400, 404)),
        ("/Nothing", (404,)),
        ("/Products?$top=-1", (400,)),
        ("/ReadOnlyItems/$count", (200,)),
    ],
)
def test_addresses(reference: Reference, address: str, statuses: tuple[int, ...]) -> None:
    assert reference.send("GET", address).status_code in statuses


def test_searches_find_words_and_phrases(reference: Reference) -> None:
    assert reference.names("$search=Laptop AND Mouse") == []
    assert reference.names("$search=Laptop Pro") == ["Premium Laptop Pro"]
    assert reference.names('$search="Wireless Mouse"') == ["Wireless Mouse"]
    assert "Laptop" not in reference.names("$search=NOT Laptop")
    assert "Smartphone" in reference.names("$search=Austin")


def test_levels_go_back_where_a_navigation_cannot_go_on(reference: Reference) -> None:
    rows = reference.get("/Products?$expand=Descriptions($count=true;$levels=2)")["value"]
    laptop = rows[0]
    assert laptop["Descriptions@odata.count"] == len(laptop["Descriptions"])
    assert all(one["Product"]["Name"] == "Laptop" for one in laptop["Descriptions"])


def test_pages_follow_each_other_through_keys_that_are_guids(reference: Reference) -> None:
    names: list[str] = []
    address = "/Products?$select=Name&$orderby=Offset,ID desc"
    while address:
        page = reference.get(address, Prefer="maxpagesize=2")
        names += [row["Name"] for row in page["value"]]
        address = page.get("@odata.nextLink", "").removeprefix("http://localhost")
    assert names == reference.names("$orderby=Offset,ID desc")


def test_rows_are_aggregated(reference: Reference) -> None:
    query = "$apply=groupby((Category/Name),aggregate(Price with max as Top,$count as Number))"
    rows = reference.get(f"/Products?{query}")["value"]
    assert {row["Category"]["Name"]: row["Number"] for row in rows} == {
        "Electronics": 5, "Kitchen": 1, "Furniture": 1,
    }  # fmt: skip


def test_decimals_keep_all_their_digits(reference: Reference) -> None:
    plain = reference.send("GET", "/DecimalSamples")
    assert '"Amount":123.450000000000000000' in plain.text
    accept = "application/json;IEEE754Compatible=true"
    quoted = reference.send("GET", "/DecimalSamples", Accept=accept)
    assert quoted.json["value"][0]["Amount"] == "123.450000000000000000"
    assert "IEEE754Compatible=true" in quoted.headers["Content-Type"]
    found = reference.get("/DecimalSamples?$filter=Amount gt 123.449999999999999999")
    assert len(found["value"]) == 1


def test_the_formats_and_versions_of_answers(reference: Reference) -> None:
    product = reference.product()
    assert reference.send("GET", product, Accept="application/xml").status_code == 406
    assert reference.send("GET", "/", OData_MaxVersion="3.0").status_code in (400, 406)
    answer = reference.send("GET", product, OData_MaxVersion="4.01")
    assert answer.headers["OData-Version"] == "4.01"
    assert "@context" in answer.json
    assert reference.send("GET", "/Products", Isolation="snapshot").status_code in (200, 412)


def test_no_query_is_refused_for_its_encoding(reference: Reference) -> None:
    assert reference.names("%24filter=Name+eq+%27Laptop%27&%24top=1") == ["Laptop"]
    assert reference.names("%24index=&%24filter=Name+eq+%27Laptop%27") == ["Laptop"]


def test_what_apply_puts_together_leaves_streams_out(reference: Reference) -> None:
    query = "$apply=concat(aggregate($count as n),filter(Price gt 1000))"
    rows = reference.get(f"/Products?{query}")["value"]
    assert rows[0] == {"n@odata.type": "#Int64", "n": 7}
    assert [row["Name"] for row in rows[1:]] == ["Premium Laptop Pro"]
    assert not any(name.startswith("Photo") for row in rows for name in row)


def test_flags_that_are_not_there_are_null(reference: Reference) -> None:
    query = "$apply=groupby((rollup($all,Status)),aggregate($count as n))&$orderby=n desc"
    total, *groups = reference.get(f"/Products?{query}")["value"]
    assert total == {"n@odata.type": "#Int64", "n": 7}
    assert "InStock" in [row["Status"] for row in groups]
    compute = "$compute=cast(null,Edm.String) as Text,case(Price gt 1000:Status) as Flags"
    rows = reference.get(f"/Products?{compute}&$select=Name,Flags")["value"]
    dear = {row["Name"] for row in rows if row["Flags"] is not None}
    assert dear == {"Premium Laptop Pro"}


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("Price eq ComplianceService.Calculate(value=10)", 20),
        ("Price eq $root/Calculate(a=@a,b=20)&@a=0", 20),
    ],
)
def test_functions_of_nothing_stand_in_expressions(
    reference: Reference, text: str, price: float
) -> None:
    expected = reference.get(f"/Products?$filter=Price eq {price}")["value"]
    assert reference.get(f"/Products?$filter={text}")["value"] == expected
    address = "/Products?$compute=$root/Calculate(value=4) as eight&$select=eight&$top=1"
    assert reference.get(address)["value"][0]["eight"] == 8
    assert reference.get("/Calculate(value=4)")["value"] == 8


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (f"groupby(({NS}.SpecialProduct/SpecialFeature))/aggregate($count as n)", [{"n": 4}]),
        (f"groupby(({NS}.SpecialProduct/SpecialProperty),aggregate($count as n))/filter(n gt 1)",
         [{"SpecialProperty": None, "n": 4}]),
        (f"filter(contains({NS}.SpecialProduct/SpecialProperty,'RGB'))"
         f"/groupby((Category/Name,{NS}.SpecialProduct/SpecialProperty))",
         [{"Category": {"Name": "Electronics"},
           "SpecialProperty": "RGB lighting with 16 million colors"}]),
    ],
)  # fmt: skip
def test_rows_are_grouped_by_what_a_derived_type_has(
    reference: Reference, query: str, wanted: list[Any]
) -> None:
    rows = reference.get(f"/Products?$apply={query}")["value"]
    shown = [{name: row[name] for name in row if "@" not in name} for row in rows]
    assert shown == wanted


@pytest.mark.parametrize(
    "query",
    [
        "$apply=groupby(({0}))", "$apply=groupby(({0}),aggregate($count as n))",
        "$apply=aggregate({0} with countdistinct as n)", "$apply=aggregate({0} with max as n)",
        "$orderby={0} desc", "$filter={0} ne null", "$filter={0} eq {0}",
        "$compute={0} as z&$select=z", "$compute=cast({0},Edm.String) as z&$select=z",
    ],
)  # fmt: skip
def test_values_of_every_type_are_taken_or_refused(reference: Reference, query: str) -> None:
    refused = ("Location", "Route", "Area", "ShippingAddress", "Dimensions", "Photo")
    for name in model.PRODUCT.properties:
        answer = reference.send("GET", f"/Products?{query.format(name)}")
        assert answer.status_code in ((200, 400, 501) if name in refused else (200, 400)), name
        if "groupby" in query or "countdistinct" in query:
            assert answer.status_code == (400 if name in refused else 200), (name, answer.text)


@pytest.mark.parametrize(
    "name", ["Data", "Rating", "Weight", "ReleaseDate", "OpenTime", "ShippingTime", "CategoryID"]
)
def test_groups_come_in_the_order_of_their_values_over_all_pages(
    reference: Reference, name: str
) -> None:
    address = f"/Products?$apply=groupby(({name}),aggregate($count as n))"
    ordered = reference.get(f"{address}&$orderby={name}")["value"]
    assert reference.get(address)["value"] == ordered
    paged, page = [], reference.get(address, Prefer="maxpagesize=1")
    while "@odata.nextLink" in page:
        paged += page["value"]
        page = reference.get(page["@odata.nextLink"].removeprefix("http://localhost"))
    assert paged + page["value"] == ordered
