"""Sections 11.3 and 5.1.1: what ``$filter`` says, with the rows that it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.suite.registry import EXPECTATIONS, Expectation, assert_error, expect_statuses, expects
from tests.suite.service import NAMESPACE, Service

Row = dict[str, Any]
FINDS: dict[str, list[tuple[str, Callable[[Row], bool]]]] = {
    "11.3.1 Functions of texts": [
        ("contains(Name,'Laptop')", lambda r: "Laptop" in r["Name"]),
        ("contains(Name,'laptop')", lambda r: "laptop" in r["Name"]),
        ("startswith(Name,'Coffee')", lambda r: r["Name"].startswith("Coffee")),
        ("endswith(Name,'Pro')", lambda r: r["Name"].endswith("Pro")),
        ("length(Name) gt 10", lambda r: len(r["Name"]) > 10),
        ("indexof(Name,'a') eq 1", lambda r: r["Name"].find("a") == 1),
        ("substring(Name,1) eq 'aptop'", lambda r: r["Name"][1:] == "aptop"),
        ("substring(Name,0,3) eq 'Lap'", lambda r: r["Name"][:3] == "Lap"),
        ("tolower(Name) eq 'laptop'", lambda r: r["Name"].lower() == "laptop"),
        ("toupper(Name) eq 'LAPTOP'", lambda r: r["Name"].upper() == "LAPTOP"),
        ("trim(Name) eq 'Laptop'", lambda r: r["Name"].strip() == "Laptop"),
        ("concat(Name,'!') eq 'Laptop!'", lambda r: r["Name"] + "!" == "Laptop!"),
        ("contains(Name,'')", lambda r: True),
        ("contains(Name,'%')", lambda r: "%" in r["Name"]),
        ("contains(tolower(Name),'mouse')", lambda r: "mouse" in r["Name"].lower()),
    ],
    "11.3.2 Functions of dates": [
        ("year(ReleaseDate) eq 2024", lambda r: (r["ReleaseDate"] or "")[:4] == "2024"),
        ("month(ReleaseDate) eq 1", lambda r: (r["ReleaseDate"] or "")[5:7] == "01"),
        ("day(ReleaseDate) eq 15", lambda r: (r["ReleaseDate"] or "")[8:] == "15"),
        ("year(CreatedAt) eq 2024", lambda r: r["CreatedAt"][:4] == "2024"),
        ("hour(CreatedAt) eq 10", lambda r: r["CreatedAt"][11:13] == "10"),
        ("hour(OpenTime) eq 9", lambda r: (r["OpenTime"] or "")[:2] == "09"),
        ("ReleaseDate eq 2024-01-15", lambda r: r["ReleaseDate"] == "2024-01-15"),
        ("ReleaseDate lt 2024-01-16", lambda r: (r["ReleaseDate"] or "9") < "2024-01-16"),
        ("CreatedAt lt now()", lambda r: True),
        ("date(CreatedAt) eq 2024-01-15", lambda r: r["CreatedAt"][:10] == "2024-01-15"),
        ("OpenTime gt 09:00:00", lambda r: (r["OpenTime"] or "") > "09:00:00"),
        ("CreatedAt gt mindatetime() and CreatedAt lt maxdatetime()", lambda r: True),
        ("ShippingTime eq duration'P1D'", lambda r: r["ShippingTime"] in ("P1D", "PT86400S")),
    ],
    "11.3.3 Arithmetic": [
        ("Price add 10 gt 1000", lambda r: r["Price"] + 10 > 1000),
        ("Price sub 10 lt 10", lambda r: r["Price"] - 10 < 10),
        ("Price mul 2 gt 1000", lambda r: r["Price"] * 2 > 1000),
        ("Price div 2 lt 20", lambda r: r["Price"] / 2 < 20),
        ("Rating mod 2 eq 1", lambda r: r["Rating"] % 2 == 1),
        ("round(Price) eq 1000", lambda r: round(r["Price"]) == 1000),
        ("floor(Price) eq 999", lambda r: r["Price"] // 1 == 999),
        ("ceiling(Price) eq 1000", lambda r: -(-r["Price"] // 1) == 1000),
        ("-Price lt -1000", lambda r: r["Price"] > 1000),
        ("(Price add 1) mul 2 gt 2000", lambda r: (r["Price"] + 1) * 2 > 2000),
    ],
    "11.3.4 Functions of types": [
        (f"isof('{NAMESPACE}.SpecialProduct')", lambda r: r["ProductType"] == "SpecialProduct"),
        ("cast(Price,'Edm.String') ne null", lambda r: True),
        ("cast(Status,'Edm.Byte') eq 4", lambda r: r["Status"] == "Discontinued"),
        ("cast(Rating,Edm.Int32) gt 100", lambda r: r["Rating"] > 100),
        ("isof(Price,Edm.Double)", lambda r: True),
        ("isof(Data,'Edm.Binary')", lambda r: r["Data"] is not None),
    ],
    "11.3.5 Logic": [
        ("Price gt 100 and Price lt 900", lambda r: 100 < r["Price"] < 900),
        ("Price lt 20 or Price gt 1000", lambda r: r["Price"] < 20 or r["Price"] > 1000),
        ("not (Price gt 100)", lambda r: r["Price"] <= 100),
        ("not contains(Name,'Laptop')", lambda r: "Laptop" not in r["Name"]),
        (
            "Price gt 100 and (Rating gt 100 or Rating eq 0)",
            lambda r: r["Price"] > 100 and (r["Rating"] > 100 or r["Rating"] == 0),
        ),
        ("true", lambda r: True),
        ("false", lambda r: False),
        (
            "Price gt 1000 or Price lt 20 and Rating eq 0",
            lambda r: r["Price"] > 1000 or (r["Price"] < 20 and r["Rating"] == 0),
        ),
    ],
    "11.3.6 Comparison": [
        ("Price eq 999.99", lambda r: r["Price"] == 999.99),
        ("Price ne 999.99", lambda r: r["Price"] != 999.99),
        ("Price ge 799.99", lambda r: r["Price"] >= 799.99),
        ("Price le 29.99", lambda r: r["Price"] <= 29.99),
        ("Name gt 'P'", lambda r: r["Name"] > "P"),
        ("Description eq null", lambda r: r["Description"] is None),
        ("Description ne null", lambda r: r["Description"] is not None),
        ("ReleaseDate ne 2024-01-15", lambda r: r["ReleaseDate"] != "2024-01-15"),
        (
            "not (ReleaseDate gt 2024-01-15)",
            lambda r: r["ReleaseDate"] is None or r["ReleaseDate"] <= "2024-01-15",
        ),
        ("Name in ('Laptop','Smartphone')", lambda r: r["Name"] in ("Laptop", "Smartphone")),
        (
            "Status has ProductStatus'InStock'".replace("Product", f"{NAMESPACE}.Product"),
            lambda r: "InStock" in r["Status"],
        ),
        ("Status has 'InStock'", lambda r: "InStock" in r["Status"]),
        ("Status eq 1", lambda r: r["Status"] == "InStock"),
        ("Status gt 0", lambda r: r["Status"] != "None"),
        ("Status eq null", lambda r: False),
        ("Temperature lt 0", lambda r: r["Temperature"] < 0),
        ("Weight eq 3.14f", lambda r: r["Weight"] == 3.14),
        ("Weight lt INF", lambda r: True),
        ("Weight gt -INF", lambda r: True),
        ("Weight eq NaN", lambda r: False),
        ("Data eq binary'dGVzdA'", lambda r: r["Data"] == "dGVzdA"),
        ("Data eq binary'AQID'", lambda r: r["Data"] == "AQID"),
        ("Data eq binary''", lambda r: r["Data"] == ""),
    ],
    "11.3.8 Complex values": [
        (
            "ShippingAddress/City eq 'Seattle'",
            lambda r: (r["ShippingAddress"] or {}).get("City") == "Seattle",
        ),
        ("ShippingAddress eq null", lambda r: r["ShippingAddress"] is None),
        ("ShippingAddress ne null", lambda r: r["ShippingAddress"] is not None),
        ("Dimensions/Length gt 30", lambda r: ((r["Dimensions"] or {}).get("Length") or 0) > 30),
    ],
    "11.3.10 Navigation": [
        ("Category/Name eq 'Kitchen'", lambda r: r["Name"] == "Coffee Mug"),
        ("contains(Category/Name,'Furn')", lambda r: r["Name"] == "Office Chair"),
        ("Category ne null", lambda r: True),
        ("Descriptions/$count gt 1", lambda r: len(r["Descriptions"]) > 1),
    ],
    "11.2.9 Lambdas": [
        ("Descriptions/any()", lambda r: bool(r["Descriptions"])),
        ("not Descriptions/any()", lambda r: not r["Descriptions"]),
        (
            "Descriptions/any(d:d/LanguageKey eq 'EN')",
            lambda r: any(d["LanguageKey"] == "EN" for d in r["Descriptions"]),
        ),
        (
            "Descriptions/all(d:d/LanguageKey eq 'EN')",
            lambda r: all(d["LanguageKey"] == "EN" for d in r["Descriptions"]),
        ),
        (
            "Descriptions/any(d:d/CustomName eq 'Promo')",
            lambda r: any(d["CustomName"] == "Promo" for d in r["Descriptions"]),
        ),
        (
            "Descriptions/any(d:d/LanguageKey eq 'EN' and contains(d/Description,'a'))",
            lambda r: any(
                d["LanguageKey"] == "EN" and "a" in d["Description"] for d in r["Descriptions"]
            ),
        ),
        (
            "Category/Products/any(p:p/Price gt 1000)",
            lambda r: r["Name"] not in ("Coffee Mug", "Office Chair"),
        ),
    ],
}


def _finds(section: str, text: str, holds: Callable[[Row], bool]) -> None:
    def check(service: Service) -> None:
        rows = service.rows("$top=1000&$expand=Descriptions")
        expected = [row["Name"] for row in rows if holds(row)]
        assert service.names(f"$filter={text}") == expected

    EXPECTATIONS.append(Expectation(section, text, check))


for _section, _cases in FINDS.items():
    for _text, _holds in _cases:
        _finds(_section, _text, _holds)

expect_statuses(
    "5.1.1 Literals and types",
    [
        (f"{text} is refused", f"GET /Products?$filter={text}", 400)
        for text in (
            "year(Name) eq 2024",
            "Name eq 2024-01-15",
            "ID eq invalid-guid-format",
            "duration'invalid' eq ShippingTime",
            "Data eq binary'!!!'",
            "Nothing eq 1",
            "Price gt",
            "Price gtt 1",
            "contains(Name)",
            "length(Price) gt 1",
            "(Price gt 1",
            "Name eq 'x",
            "nonsense(Name)",
            "Descriptions/any(d:x/LanguageKey eq 'EN')",
            "and Price gt 1",
            "Price",
            "ReleaseDate eq 2024-13-01",
            "OpenTime eq 25:00:00",
        )
    ]
    + [
        (f"{text} is one or the other", f"GET /Products?$filter={text}", (200, 400))
        for text in (
            "Status eq 256",
            "Status eq -1",
            "Rating eq 256",
        )
    ]
    + [
        (f"{text} is taken", f"GET /Products?$filter={text}", 200)
        for text in (
            "Price gt 1e2",
            "Price lt 1.5E3",
            "Quantity gt -5",
            "ID ne 00000000-0000-0000-0000-000000000000",
            "CreatedAt gt 2024-01-01T00:00:00Z",
            "CreatedAt gt 2024-01-01T00:00:00+02:00",
            "ShippingTime gt duration'PT1H'",
            "Offset lt duration'PT0S'",
            "contains(cast(ID,'Edm.String'),'-')",
            "null eq null",
            "5 lt 6",
            "Name eq ''",
            "length('') eq 0",
        )
    ],
)
expect_statuses(
    "11.3.7 Geography",
    [
        ("an unknown function", "GET /Products?$filter=geo.invalid(Location)", (400, 404)),
        ("one argument of two", "GET /Products?$filter=geo.distance(Location) lt 5", (400, 501)),
        (
            "the distance",
            "GET /Products?$filter=geo.distance(Location,geography'SRID=4326;Point(0 0)') lt 5",
            (200, 501),
        ),
        ("the length", "GET /Products?$filter=geo.length(Route) gt 5", (200, 501)),
    ],
)


@expects("5.1.1 Literals and types", "a size beyond all whole numbers is refused")
def _too_large(service: Service) -> None:
    beyond = service.send("GET", "/MediaItems?$filter=Size eq 99999999999999999999")
    assert_error(beyond, 400)
