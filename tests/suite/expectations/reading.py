"""Sections 10 and 11.1 to 11.2: addresses, representations, references, streams, levels."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import NAMESPACE, NOBODY, Service

FULL = "application/json;odata.metadata=full"

expect_statuses(
    "11.1 Resource path",
    [
        ("a set", "GET /Products", 200),
        ("an entity", "GET /Products({product})", 200),
        ("an entity by the name of its key", "GET /Products(ID={product})", 200),
        (
            "a key of several parts",
            "GET /ProductDescriptions(ProductID={product},LanguageKey='EN')",
            200,
        ),
        ("one part of two is no key", "GET /ProductDescriptions(ProductID={product})", (400, 404)),
        ("an unknown key", "GET /Products({nobody})", 404),
        ("a key of another type", "GET /Products('x_2026-03-20T19:30:00Z')", (200, 400, 404)),
        ("a quote that is not closed", "GET /Products('x)", 400),
        ("an unknown set", "GET /Nothing", 404),
        ("an unknown property", "GET /Products({product})/Nothing", 404),
        ("two slashes at the end", "GET /Products//", (301, 400, 404)),
        ("the value of a set", "GET /Products/$value", (400, 404)),
        ("names of sets have a case", "GET /products", (200, 404)),
        ("names of properties have a case", "GET /Products({product})/name", (200, 404)),
        ("from entity to entity", "GET /Products({product})/Category", 200),
        ("and on", "GET /Products({product})/Category/Products", 200),
        ("and on to a property", "GET /Products({product})/Category/Name", 200),
        ("a collection behind an entity", "GET /Products({product})/Descriptions", 200),
        ("an empty collection", "GET /Products({product})/RelatedProducts", 200),
        (
            "a key behind navigation",
            "GET /Products({product})/Descriptions(ProductID={product},LanguageKey='EN')",
            200,
        ),
        ("all pairs", "GET /$crossjoin(Products,Categories)", 200),
        ("all pairs of an unknown set", "GET /$crossjoin(Products,Nothing)", (400, 404)),
        ("an entity by its id", "GET /$entity?$id=Products({product})", 200),
        ("an entity by no id", "GET /$entity", 400),
        ("an entity by an unknown id", "GET /$entity?$id=Products({nobody})", 404),
        ("all entities", "GET /$all", (200, 404, 501)),
    ],
)
expect_statuses(
    "11.2.3 Property access",
    [
        ("a property", "GET /Products({product})/Name", 200),
        ("its value", "GET /Products({product})/Name/$value", 200),
        ("a number", "GET /Products({product})/Price/$value", 200),
        ("nothing", "GET /Products({product})/Description", 204),
        ("the value of nothing", "GET /Products({product})/Description/$value", (204, 404)),
        ("a complex value", "GET /Products({product})/ShippingAddress", 200),
        ("a part of it", "GET /Products({product})/ShippingAddress/City", 200),
        ("the value of a part", "GET /Products({product})/ShippingAddress/City/$value", 200),
        ("an unknown part", "GET /Products({product})/ShippingAddress/Unknown", 404),
        ("of an unknown entity", "GET /Products({nobody})/Name", 404),
        ("of the singleton", "GET /Company/Name", 200),
        ("the value of a complex value", "GET /Products({product})/ShippingAddress/$value", 400),
    ],
)
expect_statuses(
    "11.2.4 Count",
    [
        ("of a set", "GET /Products/$count", 200),
        ("of a part", "GET /Products/$count?$filter=Price gt 100", 200),
        ("with a search", "GET /Products/$count?$search=Laptop", 200),
        ("behind an entity", "GET /Products({product})/Descriptions/$count", 200),
        ("of a property", "GET /Products({product})/Name/$count", (400, 404)),
    ],
)
expect_statuses(
    "11.2.12 Streams",
    [
        ("the stream of a media item", "GET /MediaItems({media})/$value", 200),
        ("a stream property", "GET /Products({product})/Photo", 200),
        ("its value", "GET /Products({product})/Photo/$value", 200),
    ],
)
expect_statuses(
    "11.2.13 Type casts",
    [
        ("a set as a derived type", "GET /Products/{ns}.SpecialProduct", 200),
        ("an entity as a derived type", "GET /Products({product})/{ns}.SpecialProduct", 200),
        (
            "a property behind a cast",
            "GET /Products({product})/{ns}.SpecialProduct/SpecialProperty",
            200,
        ),
        ("navigation behind a cast", "GET /Products({product})/{ns}.SpecialProduct/Category", 200),
        ("an unknown type", "GET /Products/{ns}.InvalidType", (400, 404)),
        ("isof with the type in quotes", "GET /Products?$filter=isof('{ns}.SpecialProduct')", 200),
        ("isof without quotes", "GET /Products?$filter=isof({ns}.SpecialProduct)", 200),
        (
            "a property of the derived type in a filter",
            "GET /Products?$filter={ns}.SpecialProduct/SpecialProperty ne null",
            200,
        ),
    ],
)
expect_statuses(
    "11.2.6 Format",
    [
        ("JSON", "GET /Products?$format=json", 200),
        ("by its media type", "GET /Products?$format=application/json", 200),
        (
            "with an amount of metadata",
            "GET /Products?$format=application/json;odata.metadata=full",
            200,
        ),
        ("XML", "GET /Products?$format=xml", 406),
        ("an unknown one", "GET /Products?$format=nonsense", (400, 406, 415)),
        ("XML of the metadata", "GET /$metadata?$format=xml", 200),
    ],
)


@expects("10.1 JSON", "a collection and an entity have their contexts")
def _contexts(service: Service) -> None:
    assert service.get("/Products")["@odata.context"].endswith("$metadata#Products")
    entity = service.get("/Products({product})")
    assert entity["@odata.context"].endswith("$metadata#Products/$entity")
    name = service.get("/Products({product})/Name")
    assert name["@odata.context"].endswith("/Name") and name["value"] == "Laptop"


@expects("10.1 JSON", "all rows come without a page of the service's own")
def _all_rows(service: Service) -> None:
    body = service.get("/Products?$top=1000")
    assert len(body["value"]) == 7 and "@odata.nextLink" not in body


@expects("10.2 Control information", "$top=1 is followed by a next link")
def _top_link(service: Service) -> None:
    body = service.get("/Products?$count=true&$top=1")
    assert "$skip" in body["@odata.nextLink"] and body["@odata.count"] == 7


@expects("10.2 Control information", "a derived row tells its type, numbers fit theirs")
def _derived_row(service: Service) -> None:
    body = service.get("/Products({product})")
    assert body["@odata.type"] == f"#{NAMESPACE}.SpecialProduct"
    assert isinstance(body["Price"], float) and isinstance(body["Rating"], int)
    assert not set(body["Data"]) & set("+/=")
    assert body["ShippingTime"].startswith("P") and body["Status"] == "InStock,Featured"


@expects("10.2 Control information", "a media item has an annotation of its stream")
def _media_annotation(service: Service) -> None:
    assert any(key.startswith("@odata.media") for key in service.get("/MediaItems({media})"))


@expects("11.2.2 Canonical URL", "leads back to the entity")
def _canonical(service: Service) -> None:
    body = service.get("/Products({product})", Accept=FULL)
    assert service.get(f"/{body['@odata.id']}")["ID"] == body["ID"]
    made = service.send("POST", "/Products", {"Name": "Pen", "Price": 1})
    location = made.headers["Location"].removeprefix("http://localhost")
    assert service.get(location)["ID"] == made.json["ID"]


@expects("11.2.7 Levels of metadata", "none, minimal and full have what they should")
def _levels(service: Service) -> None:
    none = service.get("/Products({product})", Accept="application/json;odata.metadata=none")
    assert not any(key.startswith("@odata.") for key in none)
    full = service.get("/Products({product})", Accept=FULL)
    assert full["@odata.type"] and full["@odata.id"] and full["@odata.editLink"]
    assert full["Category@odata.navigationLink"]
    assert full["Status@odata.type"] == f"#{NAMESPACE}.ProductStatus"


@expects("11.2.15 References", "of sets, entities and relations")
def _references(service: Service) -> None:
    found = service.get("/Products/$ref")
    assert found["@odata.context"].endswith("#Collection($ref)")
    assert all(set(one) == {"@odata.id"} for one in found["value"])
    assert service.get("/Products({product})/$ref")["@odata.id"]
    assert service.get("/Products({product})/Category/$ref")["@odata.id"]
    assert len(service.get("/Products/$ref?$top=2&$skip=1")["value"]) == 2
    for option in ("$select=Name", "$expand=Category"):
        assert_error(service.send("GET", f"/Products/$ref?{option}"), 400)


@expects("11.2.1 Addresses", "an unknown key says that it does not exist")
def _unknown_key(service: Service) -> None:
    assert_error(service.send("GET", f"/Products({NOBODY})"), 404, "does not exist")


@expects("11.4.11 HEAD", "has the headers of GET and no body")
def _head(service: Service) -> None:
    for address in ("/", "/Products", "/Products({product})", "/$metadata", "/Products/$count"):
        answer = service.send("HEAD", service.filled(address))
        assert (answer.status_code, answer.data) == (200, b""), address
        assert answer.headers["OData-Version"]


@expects("11.2.12 Streams", "bytes have the type that is stored")
def _stream_type(service: Service) -> None:
    item = service.get("/MediaItems({media})")
    answer = service.send("GET", service.filled("/MediaItems({media})/$value"))
    assert answer.mimetype == item["ContentType"]
    photo = service.send("GET", service.filled("/Products({product})/Photo/$value"))
    assert not photo.headers["Content-Type"].startswith("application/json")


@expects("11.2.13 Type casts", "rows of a cast are of the type")
def _cast_rows(service: Service) -> None:
    rows = service.rows("", f"/Products/{NAMESPACE}.SpecialProduct")
    assert len(rows) == 3
    assert {row["ProductType"] for row in rows} == {"SpecialProduct"}
    assert service.names(f"$filter=isof('{NAMESPACE}.SpecialProduct')") == [
        row["Name"] for row in rows
    ]


@expects("11.2.14 Encoding", "blanks, quotes and other letters arrive")
def _encoding(service: Service) -> None:
    assert service.names("$filter=Name eq 'Wireless Mouse'") == ["Wireless Mouse"]
    made = service.new(Name="O'Neil & Söhne + Co")
    found = service.rows("$filter=Name eq 'O''Neil %26 Söhne + Co'")
    assert [row["ID"] for row in found] == [made["ID"]]


@expects("11.2.16 Singleton", "is read, changed and replaced, and neither made nor deleted")
def _singleton(service: Service) -> None:
    body = service.get("/Company")
    assert service.send("PATCH", "/Company", {"CEO": "Ada"}).status_code in (200, 204)
    changed = service.get("/Company")
    assert changed["CEO"] == "Ada" and changed["Version"] == body["Version"] + 1
    assert service.send("PUT", "/Company", changed).status_code in (200, 204)
    for method in ("POST", "DELETE"):
        answer = service.send(method, "/Company", {} if method == "POST" else None)
        assert_error(answer, 405)
        assert answer.headers["Allow"]
