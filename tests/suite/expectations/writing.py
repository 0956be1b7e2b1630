"""Section 11.4: entities made, changed, related and deleted."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import NAMESPACE, NOBODY, Service

expect_statuses(
    "11.4.4 Delete",
    [
        ("an entity", "DELETE /Products({product})", 204),
        ("an unknown one", "DELETE /Products({nobody})", 404),
        ("a set", "DELETE /Products", 405),
        ("what may not be", "DELETE /ReadOnlyItems({fixed})", 405),
    ],
)
WRONG = (
    ("no name", {"Price": 1}),
    ("a price that is a text", {"Name": "Pen", "Price": "x"}),
    ("a name that is a number", {"Name": 5, "Price": 1}),
    ("a name that is too long", {"Name": "x" * 101, "Price": 1}),
    ("a name that is null", {"Name": None, "Price": 1}),
    ("a rating of 256", {"Name": "Pen", "Price": 1, "Rating": 256}),
    ("a rating below 0", {"Name": "Pen", "Price": 1, "Rating": -1}),
    ("a temperature of 128", {"Name": "Pen", "Price": 1, "Temperature": 128}),
    ("a quantity of 32768", {"Name": "Pen", "Price": 1, "Quantity": 32768}),
    ("a date that is none", {"Name": "Pen", "Price": 1, "ReleaseDate": "2024-13-01"}),
    ("a time that is none", {"Name": "Pen", "Price": 1, "OpenTime": "25:00:00"}),
    ("a category that is no key", {"Name": "Pen", "Price": 1, "CategoryID": "x"}),
    ("an unknown property", {"Name": "Pen", "Price": 1, "Nothing": 1}),
    ("a status that there is not", {"Name": "Pen", "Price": 1, "Status": "Nothing"}),
    ("an address that is a text", {"Name": "Pen", "Price": 1, "ShippingAddress": "x"}),
    (
        "an unknown part of an address",
        {"Name": "Pen", "Price": 1, "ShippingAddress": {"Nothing": 1}},
    ),
    (
        "a bind to nobody",
        {"Name": "Pen", "Price": 1, "Category@odata.bind": f"Categories({NOBODY})"},
    ),
    (
        "a bind that is malformed",
        {"Name": "Pen", "Price": 1, "Category@odata.bind": "InvalidFormat"},
    ),
    (
        "a nested value of another type",
        {"Name": "Pen", "Price": 1, "Descriptions": [{"LanguageKey": "EN", "Description": 5}]},
    ),
)


def _wrong(text: str, body: dict[str, object]) -> None:
    @expects("11.4.15 Validation", f"{text} is refused, and nothing is made")
    def check(service: Service) -> None:
        assert_error(service.send("POST", "/Products", body), 400)
        assert service.send("GET", "/Products/$count").text == "7"


for _text, _body in WRONG:
    _wrong(_text, dict(_body))


@expects("11.4.2 Create", "gives a key, an address and the entity")
def _create(service: Service) -> None:
    answer = service.send("POST", "/Products", {"ID": NOBODY, "Name": "Pen", "Price": 2.5})
    assert answer.status_code == 201
    made = answer.json
    assert made["ID"] != NOBODY and made["Name"] == "Pen" and made["Version"] == 1
    assert answer.headers["Location"].endswith(f"Products({made['ID']})")
    assert service.get(f"/Products({made['ID']})")["Price"] == 2.5


@expects("11.4.2 Create", "malformed JSON is refused")
def _malformed(service: Service) -> None:
    for body in ('{"Name":', "[]", "5", ""):
        answer = service.send("POST", "/Products", body, Content_Type="application/json")
        assert_error(answer, 400)


@expects("11.4.2 Create", "what the service sets is passed over")
def _computed(service: Service) -> None:
    made = service.new(CreatedAt="2001-01-01T00:00:00Z", SerialNumber="S-1")
    assert made["CreatedAt"][:4] != "2001" and made["SerialNumber"] == "S-1"
    path = f"/Products({made['ID']})"
    change = {"CreatedAt": "2001-01-01T00:00:00Z", "SerialNumber": "S-2", "ID": NOBODY}
    assert service.send("PATCH", path, change).status_code in (200, 204)
    assert (service.get(path)["SerialNumber"], service.get(path)["ID"]) == ("S-1", made["ID"])


@expects("11.4.2 Create", "all types come back as they were given")
def _round_trip(service: Service) -> None:
    given = {
        "Rating": 255,
        "Temperature": -128,
        "Quantity": 32767,
        "Weight": 1.5,
        "Data": "_-8",
        "ReleaseDate": "2024-02-29",
        "Status": "InStock,OnSale",
        "ShippingAddress": {
            "Street": "S",
            "City": "C",
            "State": "ST",
            "PostalCode": "1",
            "Country": "X",
        },
        "Dimensions": {"Length": 1.5, "Width": 2.0, "Height": 3.0, "Unit": "cm"},
    }
    made = service.new(**given)
    assert {name: made[name] for name in given} == given
    assert service.new(Status=1)["Status"] == "InStock"
    assert service.new(OpenTime="10:30:00")["OpenTime"].startswith("10:30:00")


@expects("11.4.2 Create", "a derived type is made")
def _derived(service: Service) -> None:
    made = service.new(
        **{
            "@odata.type": f"#{NAMESPACE}.SpecialProduct",
            "ProductType": "SpecialProduct",
            "SpecialProperty": "x",
        }
    )
    assert made["ID"] in {
        row["ID"] for row in service.rows("", f"/Products/{NAMESPACE}.SpecialProduct")
    }


@expects("11.4.3 Update", "PATCH changes what is named")
def _patch(service: Service) -> None:
    path = service.filled("/Products({product})")
    before = service.get(path)
    assert service.send("PATCH", path, {"Price": 5}).status_code in (200, 204)
    after = service.get(path)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"Price", "Version", "@odata.etag"}
    assert after["Version"] == before["Version"] + 1
    assert service.send("PATCH", path, {"ShippingAddress": {"City": "Ulm"}}).status_code < 300
    assert service.get(path)["ShippingAddress"]["City"] == "Ulm"


@expects("11.4.3 Update", "PUT replaces: what is left out is reset")
def _put(service: Service) -> None:
    path = service.filled("/Products({product})")
    answer = service.send("PUT", path, {"Name": "Pen"})
    assert answer.status_code in (200, 204), answer.text
    after = service.get(path)
    assert (after["Name"], after["Description"], after["CategoryID"], after["Price"]) == (
        "Pen",
        None,
        None,
        0,
    )


@expects("11.4.3 Update", "an unknown entity is not changed")
def _unknown(service: Service) -> None:
    assert_error(service.send("PATCH", f"/Products({NOBODY})", {"Price": 5}), 404)
    answer = service.send("PUT", f"/Products({NOBODY})", {"Name": "Pen", "Price": 1})
    assert answer.status_code in (201, 404)


@expects("11.4.3 Update", "a set is neither replaced nor merged as an entity")
def _set(service: Service) -> None:
    for method in ("PUT", "PATCH"):
        answer = service.send(method, "/Products", {"Name": "Pen"})
        assert_error(answer, 405)
        assert answer.headers["Allow"]


@expects("11.4.3 Update", "properties are written and emptied by themselves")
def _properties(service: Service) -> None:
    path = service.filled("/Products({product})")
    assert service.send("PUT", f"{path}/Name", {"value": "Pen"}).status_code in (200, 204)
    assert service.get(path)["Name"] == "Pen"
    assert service.send("DELETE", f"{path}/ReleaseDate").status_code == 204
    assert service.get(path)["ReleaseDate"] is None
    assert_error(service.send("DELETE", f"{path}/Name"))


@expects("11.4.5 Read-only sets", "are neither added to, changed nor emptied")
def _read_only(service: Service) -> None:
    path = service.filled("/ReadOnlyItems({fixed})")
    assert_error(service.send("POST", "/ReadOnlyItems", {"Name": "x"}), 405)
    assert_error(service.send("PATCH", path, {"Name": "x"}), 405)
    assert_error(service.send("DELETE", path), 405)


@expects("11.4.7 Deep insert", "makes what is nested, all or nothing")
def _deep(service: Service) -> None:
    texts = [{"LanguageKey": key, "Description": f"In {key}"} for key in ("EN", "DE")]
    made = service.new(Descriptions=texts)
    rows = service.rows("", f"/Products({made['ID']})/Descriptions")
    assert {row["LanguageKey"] for row in rows} == {"EN", "DE"}
    assert {row["ProductID"] for row in rows} == {made["ID"]}


@expects("11.4.2.1 Bind", "relates a new entity, by either form of address")
def _bind(service: Service) -> None:
    key = service.rows("$filter=Name eq 'Kitchen'", "/Categories")[0]["ID"]
    for url in (f"Categories({key})", f"http://localhost/Categories({key})"):
        made = service.new(**{"Category@odata.bind": url})
        assert service.get(f"/Products({made['ID']})/Category")["Name"] == "Kitchen"
    change = {"Category@odata.bind": f"Categories({key})"}
    assert service.send("PATCH", service.filled("/Products({product})"), change).status_code < 300
    assert service.get("/Products({product})/Category")["Name"] == "Kitchen"


@expects("11.4.6 Relations", "are set, ended and added to by references")
def _relations(service: Service) -> None:
    path = service.filled("/Products({product})")
    key = service.rows("$filter=Name eq 'Kitchen'", "/Categories")[0]["ID"]
    reference = {"@odata.id": f"Categories({key})"}
    assert service.send("PUT", f"{path}/Category/$ref", reference).status_code == 204
    assert service.get(f"{path}/Category")["Name"] == "Kitchen"
    assert service.send("DELETE", f"{path}/Category/$ref").status_code == 204
    assert service.send("GET", f"{path}/Category").status_code == 204
    other = service.rows("$filter=Name eq 'Smartphone'")[0]["ID"]
    added = service.send(
        "POST", f"{path}/RelatedProducts/$ref", {"@odata.id": f"Products({other})"}
    )
    assert added.status_code in (201, 204)
    assert [row["ID"] for row in service.rows("", f"{path}/RelatedProducts")] == [other]
    nobody = {"@odata.id": f"Categories({NOBODY})"}
    assert_error(service.send("PUT", f"{path}/Category/$ref", nobody), (400, 404))


@expects("11.4.14 Null", "is written, read and found")
def _null(service: Service) -> None:
    made = service.new(Description=None, ShippingAddress=None)
    assert made["Description"] is None and made["ShippingAddress"] is None
    text = {"ProductID": made["ID"], "LanguageKey": "FR", "Description": "x"}
    answer = service.send("POST", "/ProductDescriptions", text)
    assert answer.status_code == 201 and answer.json["LongText"] is None
    assert_error(service.send("POST", "/ProductDescriptions", text), 409)


@expects("11.4.8 Media", "bytes are stored, replaced and removed")
def _media(service: Service) -> None:
    made = service.send("POST", "/MediaItems", b"\x89PNG12", Content_Type="image/png")
    assert made.status_code in (200, 201, 204)
    path = "/" + made.headers["Location"].partition("localhost/")[2]
    found = service.send("GET", f"{path}/$value")
    assert (found.data, found.mimetype) == (b"\x89PNG12", "image/png")
    replaced = service.send("PUT", f"{path}/$value", b"GIF89a", Content_Type="image/gif")
    assert replaced.status_code in (200, 204)
    assert service.get(path)["Size"] == 6
    body = {"Name": "a", "ContentType": "image/png", "Size": 9223372036854775807}
    described = service.send("POST", "/MediaItems", body)
    assert described.status_code == 201 and described.json["Size"] == 9223372036854775807
    assert service.send("DELETE", f"{path}/$value").status_code in (200, 204)


@expects("5.1.1 Literals and types", "decimals are exact, as numbers and as texts")
def _decimals(service: Service) -> None:
    exact = '{"Name":"x","Amount":12345678901234567890.123456789012345678}'
    made = service.send("POST", "/DecimalSamples", exact, Content_Type="application/json")
    assert made.status_code == 201, made.text
    assert "12345678901234567890.123456789012345678" in made.text
    kind = "application/json;IEEE754Compatible=true"
    shown = service.send("GET", f"/DecimalSamples({made.json['ID']})", Accept=kind)
    assert shown.json["Amount"] == "12345678901234567890.123456789012345678"
    assert "IEEE754Compatible=true" in shown.headers["Content-Type"]
    text = {"Name": "y", "Amount": "1.5"}
    assert service.send("POST", "/DecimalSamples", text, Content_Type=kind).status_code == 201
