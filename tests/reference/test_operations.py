"""The functions and actions of the reference model, overloads and ways of giving parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.conftest import Reference

NS = "ComplianceService"


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("GetTopProducts()", None),
        ("GetTopProducts", None),
        ("GetTopProducts(count=2)", ["Premium Laptop Pro", "Laptop"]),
        ("GetTopProducts(count=@n)?@n=1", ["Premium Laptop Pro"]),
        ("GetTopProducts(count=5,category='Kitchen')", ["Coffee Mug"]),
        ("GetTopProducts()?count=2&category=Electronics", ["Premium Laptop Pro", "Laptop"]),
        ("GetTopProducts()?$top=1", ["Premium Laptop Pro"]),
        ("FindProducts(name='laptop',maxPrice=1000)", ["Laptop"]),
    ],
)
def test_functions_find_products(
    reference: Reference, address: str, names: list[str] | None
) -> None:
    rows = reference.get(f"/{address}")["value"]
    prices = [row["Price"] for row in rows]
    assert prices == sorted(prices, reverse=True)
    assert [row["Name"] for row in rows] == names if names is not None else len(rows) == 7


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("Calculate(value=21)", 42),
        ("Calculate(a=2,b=3)", 5),
        ("Calculate?a=2&b=3", 5),
        ("Convert(input='x')", "String: x"),
        ("Convert(number=7)", "Number: 7"),
    ],
)
def test_the_parameters_choose_the_overload(reference: Reference, address: str, value: Any) -> None:
    assert reference.get(f"/{address}")["value"] == value


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("GetTotalPrice(taxRate=0.5)", 23.25),
        ("CalculatePrice(discount=10)", 13.95),
        ("CalculatePrice(discount=10,tax=100)", 27.9),
        ("CalculatePrice?discount=10", 13.95),
        ("GetInfo(format='short')", "Product: Coffee Mug (Price: 15.50) in short format"),
    ],
)
def test_functions_of_a_product(reference: Reference, call: str, value: Any) -> None:
    mug = reference.product("Coffee Mug")
    for name in (call, f"{NS}.{call}"):
        found = reference.get(f"{mug}/{name}")["value"]
        assert found == (pytest.approx(value) if isinstance(value, float) else value)


def test_functions_of_collections_and_of_everything(reference: Reference) -> None:
    prices = [row["Price"] for row in reference.get("/Products")["value"]]
    average = sum(prices) / len(prices)
    assert reference.get("/Products/GetAveragePrice()")["value"] == pytest.approx(average)
    dear = [price for price in prices if price > 1000]
    for part, expected in (
        ("Products/$filter(Price gt 1000)", sum(dear) / len(dear)),
        ("Products/$filter(Price gt @p)", sum(dear) / len(dear)),
        ("Products/$filter(false)", 0),
        (f"Categories({reference.key('Kitchen', '/Categories')})/Products", 15.5),
    ):
        for name in (f"{NS}.GetAveragePrice()", "GetAveragePrice"):
            found = reference.get(f"/{part}/{name}?@p=1000")["value"]
            assert found == pytest.approx(expected)
    nowhere = f"/Categories({reference.key()})/Products/GetAveragePrice()"
    assert reference.send("GET", nowhere).status_code == 404
    stats = reference.get("/GetProductStats()")
    assert stats["totalProducts"] == 7 and stats["maxPrice"] == max(prices)
    related = reference.get(f"{reference.product()}/GetRelatedProducts()")["value"]
    assert [row["Name"] for row in related] == [
        "Wireless Mouse", "Smartphone", "Premium Laptop Pro", "Gaming Mouse Ultra",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "address", "statuses"),
    [
        ("GET", "/GetTopProducts(number=5)", (400, 404)),
        ("GET", "/GetTopProducts(count='x')", (400,)),
        ("GET", "/GetTopProducts()?__invalid=1", (400, 404)),
        ("GET", "/Calculate()", (400, 404)),
        ("GET", "/Calculate(value=1,a=2)", (400, 404)),
        ("POST", "/GetTopProducts()", (400, 404, 405)),
        ("GET", "/Reseed", (400, 404, 405)),
        ("GET", "/Products('x_2026-03-20T19:30:00Z')/GetTotalPrice(taxRate=1)", (404,)),
        ("GET", "/Products(00000000-0000-0000-0000-000000000000)/GetInfo(format='x')", (404,)),
        ("POST", "/Products(00000000-0000-0000-0000-000000000000)/Activate", (404,)),
    ],
)
def test_calls_that_do_not_fit(
    reference: Reference, method: str, address: str, statuses: tuple[int, ...]
) -> None:
    answer = reference.send(method, address)
    assert answer.status_code in statuses, answer.text
    assert set(answer.json) == {"error"}


def test_actions_change_a_product_and_raise_its_version(reference: Reference) -> None:
    chair = reference.product("Office Chair")
    activated = reference.send("POST", f"{chair}/{NS}.Activate")
    assert activated.status_code == 204
    assert reference.get(chair)["Status"] == "InStock"
    dearer = reference.send("POST", f"{chair}/IncreasePrice", {"amount": 0.01})
    assert dearer.status_code == 204
    cheaper = reference.send("POST", f"{chair}/ApplyDiscount", {"percentage": 50})
    assert cheaper.status_code in (200, 204)
    row = reference.get(chair)
    assert row["Price"] == pytest.approx(125) and row["Version"] == 4
    only = reference.send("POST", f"{chair}/CalculateDiscount", {"percentage": 50})
    assert only.json["value"] == pytest.approx(62.5)
    assert reference.get(chair)["Price"] == row["Price"]


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("ApplyDiscount", {}),
        ("ApplyDiscount", {"percentage": "half"}),
        ("IncreasePrice", {"amount": None}),
    ],
)
def test_parameters_of_actions_are_checked(reference: Reference, action: str, body: Any) -> None:
    answer = reference.send("POST", f"{reference.product()}/{action}", body)
    assert answer.status_code == 400


def test_actions_of_the_service(reference: Reference) -> None:
    before = reference.get(reference.product())["Price"]
    assert reference.send("POST", "/Products/MarkAllAsReviewed").status_code == 204
    assert reference.send("POST", "/ResetProducts").status_code == 204
    assert reference.send("POST", "/Process", {"minPrice": 5}).status_code == 400
    some = reference.send("POST", "/Process", {"percentage": 50, "minPrice": 900})
    assert some.status_code == 204
    assert reference.get(reference.product())["Price"] == pytest.approx(before / 2)
    assert reference.send("POST", "/Process", {"percentage": 50}).status_code == 204
    assert reference.get(reference.product())["Price"] == pytest.approx(before / 4)
    reset = reference.send("POST", "/ResetAllPrices")
    assert set(reset.json) >= {"message", "updatedCount"}
    again = reference.send("POST", "/Reseed", b"", Content_Type="application/json")
    assert again.status_code == 200 and again.json["status"]
    assert reference.get(reference.product())["Price"] == before


def test_overloads_are_declared_each(reference: Reference) -> None:
    text = reference.send("GET", "/$metadata").text
    assert text.count('<Function Name="GetTopProducts"') == 3
    assert text.count('<FunctionImport Name="GetTopProducts"') == 1
    assert text.count('<Action Name="Process"') == 2


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("$filter=ComplianceService.GetTotalPrice(taxRate=0.1) gt 1500", ["Premium Laptop Pro"]),
        ("$filter=GetTotalPrice(taxRate=@t) gt 1500&@t=0.1", ["Premium Laptop Pro"]),
        ("$filter=CalculatePrice(discount=50,tax=0) gt 600", ["Premium Laptop Pro"]),
        ("$filter=not (CalculatePrice(discount=50) le 600)", ["Premium Laptop Pro"]),
        ("$orderby=CalculatePrice(discount=Price) asc&$top=1", ["Premium Laptop Pro"]),
        (
            "$filter=GetInfo(format='long') eq 'Product: Coffee Mug (Price: 15.50) in long format'",
            ["Coffee Mug"],
        ),
        (
            "$filter=startswith(ComplianceService.GetInfo(format=Name),'Product: Of')",
            ["Office Chair"],
        ),
        ("$filter=not GetRelatedProducts()/any()", ["Coffee Mug", "Office Chair"]),
        (
            "$filter=GetRelatedProducts()/any(p:p/Name eq 'Laptop')&$orderby=Name",
            ["Gaming Mouse Ultra", "Premium Laptop Pro", "Smartphone", "Wireless Mouse"],
        ),
        (
            "$filter=GetRelatedProducts()/$count gt 0 and GetRelatedProducts()/$count($filter="
            "Price gt 1000) eq 0",
            ["Premium Laptop Pro"],
        ),
        (
            "$filter=GetRelatedProducts()/ComplianceService.GetAveragePrice() gt 950&$orderby=Name",
            ["Gaming Mouse Ultra", "Wireless Mouse"],
        ),
        ("$filter=Category/Products/GetAveragePrice() lt 100", ["Coffee Mug"]),
        (
            "$filter=Price gt $root/Products/GetAveragePrice()&$orderby=Name",
            ["Laptop", "Premium Laptop Pro", "Smartphone"],
        ),
        ("$filter=$root/Products/$filter(Price lt 20)/GetAveragePrice() eq Price", ["Coffee Mug"]),
    ],
)
def test_functions_in_expressions(reference: Reference, query: str, names: list[str]) -> None:
    assert reference.names(query) == names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("GetAveragePrice() gt 1", "has no function 'GetAveragePrice'"),
        ("Category/Products/GetInfo(format='x') eq 'x'", "a collection of Product has no function"),
        ("GetRelatedProducts() eq 1", "can only be compared with null"),
        ("GetRelatedProducts(x=1)/any()", "does not take these parameters"),
    ],
)
def test_functions_that_do_not_fit_in_expressions(
    reference: Reference, call: str, message: str
) -> None:
    answer = reference.send("GET", f"/Products?$filter={call}")
    assert answer.status_code == 400 and message in answer.json["error"]["message"]


def test_a_function_has_one_value_by_its_address_and_in_a_query(reference: Reference) -> None:
    compute = "GetTotalPrice(taxRate=0.19) as T,CalculatePrice(discount=10,tax=5) as C"
    for row in reference.get(f"/Products?$compute={compute}&$select=ID,Price,T,C")["value"]:
        for name, call in (("T", "GetTotalPrice(taxRate=0.19)"),
                           ("C", "CalculatePrice(discount=10,tax=5)")):  # fmt: skip
            found = reference.get(f"/Products({row['ID']})/ComplianceService.{call}")["value"]
            assert found == row[name]
        assert row["T"] == pytest.approx(row["Price"] * 1.19)
        assert row["C"] == pytest.approx(row["Price"] * 0.9 * 1.05)


def test_functions_of_collections_are_the_same_by_address_and_in_a_query(
    reference: Reference,
) -> None:
    average = reference.get("/Products/GetAveragePrice()")["value"]
    names = [row["Name"] for row in reference.get("/Products")["value"] if row["Price"] > average]
    assert names and reference.names("$filter=Price gt $root/Products/GetAveragePrice()") == names
    for row in reference.get("/Products")["value"]:
        related = reference.names("", f"/Products({row['ID']})/GetRelatedProducts()")
        query = f"$filter=$root/Products({row['ID']})/GetRelatedProducts()/any(p:p/ID eq $it/ID)"
        assert sorted(reference.names(query)) == sorted(related)


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ("Calculate(a=1)", 0),
        ("Products/GetAveragePrice(x=1)", 9),
        ("GetTopProducts()(1)", 17),
        ("GetTopProducts()()", 0),
        ("GetProductStats()/maxPrice", 18),
    ],
)
def test_a_call_that_is_wrong_has_its_position(
    reference: Reference, path: str, position: int
) -> None:
    answer = reference.send("GET", f"/{path}")
    assert answer.status_code == 400, answer.text
    assert answer.json["error"]["position"] == position
