"""What 4.01 brought: names without ``$``, keys as segments, ``$compute``, ``$index``, deltas."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import Service

expect_statuses(
    "4.01 Names of options",
    [
        ("without $", "GET /Products?filter=Price gt 100&top=1", 200),
        ("in capitals", "GET /Products?$FILTER=Price gt 100&$Top=1", 200),
        (
            "operators in capitals",
            "GET /Products?$filter=Price GT 100 AND CONTAINS(Name,'Laptop')",
            200,
        ),
    ],
    OData_MaxVersion="4.01",
)
expect_statuses(
    "4.01 Keys as segments",
    [
        ("an entity", "GET /Products/{product}", 200),
        ("a property behind it", "GET /Products/{product}/Name", 200),
        ("navigation behind it", "GET /Products/{product}/Category", 200),
        ("an unknown one", "GET /Products/{nobody}", 404),
    ],
    OData_MaxVersion="4.01",
)
expect_statuses(
    "4.01 $compute",
    [
        ("a value", "GET /Products?$compute=Price mul 2 as Twice&$select=Name,Twice", 200),
        ("in a filter", "GET /Products?$compute=Price mul 2 as Twice&$filter=Twice gt 100", 200),
        ("in an order", "GET /Products?$compute=Price mul 2 as Twice&$orderby=Twice desc", 200),
        ("two", "GET /Products?$compute=Price mul 2 as A,Price add 1 as B&$select=A,B", 200),
        (
            "of an entity",
            "GET /Products({product})?$compute=Price mul 2 as Twice&$select=Twice",
            200,
        ),
        ("a function", "GET /Products?$compute=toupper(Name) as Upper&$select=Upper", 200),
        ("an unknown property", "GET /Products?$compute=Nothing mul 2 as X", 400),
        ("no name", "GET /Products?$compute=Price mul 2", 400),
        ("a name that is there", "GET /Products?$compute=Price mul 2 as Name", 400),
    ],
    OData_MaxVersion="4.01",
)
expect_statuses(
    "4.01 Expressions",
    [
        (text, f"GET /Products?$filter={text}", 200)
        for text in (
            "Name in ('Laptop','Smartphone')",
            "not (Name in ('Laptop'))",
            "Price divby 2 gt 100",
            "5 divby 2 eq 2.5",
            "matchesPattern(Name,'^L')",
            "substring(Name,-3) eq 'top'",
            "ShippingTime gt 'PT1H'",
            "Status has 'InStock'",
            "case(Price gt 100:true,true:false)",
            "Price in (999.99,15.5)",
            "Price eq 999.99 or Name in ('x')",
        )
    ]
    + [
        ("a list that is not closed", "GET /Products?$filter=Name in ('x'", 400),
        ("a pattern that is none", "GET /Products?$filter=matchesPattern(Name,'[')", 400),
    ],
    OData_MaxVersion="4.01",
)
expect_statuses(
    "4.01 $index and $schemaversion",
    [
        ("a collection", "GET /Products?$index", (200, 400, 501)),
        ("any version", "GET /Products?$schemaversion=*", 200),
        ("of the metadata", "GET /$metadata?$schemaversion=*", 200),
        ("an unknown version", "GET /$metadata?$schemaversion=9.9", 404),
    ],
    OData_MaxVersion="4.01",
)
expect_statuses(
    "4.01 Wildcards",
    [
        ("all properties", "GET /Products?$select=*", 200),
        ("all links", "GET /Products?$expand=*", 200),
        ("all actions", "GET /Products?$select={ns}.*", 200),
        ("filters in the path", "GET /Products/$filter(Price gt 100)", 200),
    ],
    OData_MaxVersion="4.01",
)


@expects("4.01 Control information", "has its short names, and the type of dynamic values")
def _short(service: Service) -> None:
    body = service.get("/Products?$top=1&$count=true", OData_MaxVersion="4.01")
    assert body["@context"].endswith("#Products") and body["@count"] == 7
    assert "@etag" in body["value"][0] and not any("odata" in name for name in body["value"][0])


@expects("4.01 Control information", "the context tells what is expanded")
def _context(service: Service) -> None:
    newer = service.get("/Products?$expand=Category", OData_MaxVersion="4.01")
    assert newer["@context"].endswith("#Products(Category())")
    older = service.get("/Products?$expand=Category", OData_MaxVersion="4.0")
    assert older["@odata.context"].endswith("#Products")


@expects("4.01 $compute", "gives the value")
def _compute(service: Service) -> None:
    for row in service.rows("$compute=Price mul 2 as Twice&$select=Price,Twice"):
        assert row["Twice"] == row["Price"] * 2


@expects("4.01 omit-values", "nulls are left out if wanted, and only nulls")
def _omitted(service: Service) -> None:
    answer = service.send("GET", "/Products", Prefer="omit-values=nulls", OData_MaxVersion="4.01")
    assert "omit-values=nulls" in answer.headers["Preference-Applied"]
    for row, whole in zip(answer.json["value"], service.rows(""), strict=True):
        kept = {name for name, value in whole.items() if value is not None and "@" not in name}
        assert {name for name in row if "@" not in name} == kept


@expects("4.01 Wildcards", "are refused to who knows 4.0 only")
def _older_wildcards(service: Service) -> None:
    for option in ("$select=*", "$expand=*"):
        assert_error(service.send("GET", f"/Products?{option}", OData_MaxVersion="4.0"), 400)


@expects("4.01 Expressions", "a list without members is refused")
def _empty_list(service: Service) -> None:
    assert_error(service.send("GET", "/Products?$filter=Name in ()"), 400)


@expects("4.01 Expressions", "all that 4.01 brought is taken from who knows 4.0 only")
def _regardless(service: Service) -> None:
    for option in (
        "$FILTER=Price gt 10",
        "filter=Price GT 10",
        "$filter=CONTAINS(Name,'Laptop')",
        "$apply=FILTER(Price gt 10)/OrderBy(Price desc)/TOP(1)",
        "$filter=Name in ('Laptop','Laptop')",
        "$compute=Price mul 2 as Twice&$select=Twice",
    ):
        service.get(f"/Products?{option}", OData_MaxVersion="4.0")


@expects("4.01 Expressions", "members of a list are of the type that they stand beside")
def _members(service: Service) -> None:
    for text in (
        "Name in (1,2)",
        "Price in ('expensive','cheap')",
        "Name in 'Laptop','Mouse'",
        "Name in ('Laptop' 'Mouse')",
    ):
        assert_error(service.send("GET", f"/Products?$filter={text}"), 400)
    assert len(service.names("$filter=Description in (null)")) == 7


@expects("4.01 $index and $schemaversion", "each row of a collection tells its place")
def _index(service: Service) -> None:
    places = [row["@odata.index"] for row in service.rows("$index&$skip=2&$top=2")]
    assert places == [2, 3]


@expects("4.01 $index and $schemaversion", "an entity has no place, and it is asked for once")
def _index_once(service: Service) -> None:
    assert_error(service.send("GET", service.filled("/Products({product})?$index")), 400)
    assert_error(service.send("GET", "/Products?$index&$index"), 400)


@expects("4.01 $compute", "a key is multiplied")
def _compute_key(service: Service) -> None:
    service.get("/Products?$expand=Category($compute=ID mul 2 as DoubleID)")


@expects("4.01 Aliases", "have slashes and backslashes in them")
def _octets(service: Service) -> None:
    for octet in ("%2F", "%5C"):
        service.get(f"/Products({{product}})/GetInfo(format=@f)?@f='a{octet}b'")


@expects("4.01 Aliases", "have the character NUL in them")
def _nul(service: Service) -> None:
    service.get("/Products({product})/GetInfo(format=@f)?@f='a%00b'")


@expects("4.01 $query", "options stand in the address and in the body")
def _query(service: Service) -> None:
    answer = service.send(
        "POST",
        "/Products/$query?$select=Name,Price",
        "$filter=Price%20gt%20900.0",
        Content_Type="text/plain",
        OData_MaxVersion="4.01",
    )
    assert answer.status_code == 200 and answer.json["value"]
    assert all("Description" not in row for row in answer.json["value"])


@expects("4.01 Annotations", "that are not known are passed over")
def _unknown_annotation(service: Service) -> None:
    assert service.new(**{"@example.unknown": "x"})["Name"] == "Pen"


@expects("4.01 Filtered counts", "stand in expressions")
def _filtered_count(service: Service) -> None:
    expected = {row["CategoryID"] for row in service.rows("") if row["Price"] > 100}
    found = service.rows("$filter=Products/$count($filter=Price gt 100) gt 0", "/Categories")
    assert {row["ID"] for row in found} == expected


@expects("8.3.1 AsyncResult", "an answer of 4.0 has none")
def _async_result(service: Service) -> None:
    answer = service.send(
        "GET",
        "/Products",
        Prefer="respond-async",
        OData_MaxVersion="4.0",
        Accept="application/json",
    )
    assert answer.status_code in (200, 202)
    assert "AsyncResult" not in answer.headers


@expects("4.01 Actions", "the whole set is changed, whatever its versions")
def _each(service: Service) -> None:
    change = {"Description": "Sale"}
    answer = service.send("PATCH", "/Products/$each", change, If_Match="*")
    assert answer.status_code in (200, 204), answer.text
    assert {row["Description"] for row in service.rows("")} == {"Sale"}
    assert_error(service.send("PATCH", "/Products/$each", change, If_Match='W/"1"'), 400)
