"""Sections 11.2.10, 11.4.13, 12: functions and actions."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import Service

expect_statuses(
    "12.1 Operations",
    [
        (text, f"GET {address}", 200)
        for text, address in (
            ("a function without parameters", "/GetTopProducts()"),
            ("without parentheses", "/GetTopProducts"),
            ("with one", "/GetTopProducts(count=2)"),
            ("with two", "/GetTopProducts(count=2,category='Kitchen')"),
            ("as options", "/GetTopProducts()?count=5&category=Electronics"),
            ("statistics", "/GetProductStats()"),
            ("found", "/FindProducts(name='Laptop',maxPrice=1500)"),
            ("with an alias", "/FindProducts(name=@n,maxPrice=@m)?@n='Laptop'&@m=1500"),
            ("of a collection", "/Products/{ns}.GetAveragePrice()"),
            ("by its name alone", "/Products/GetAveragePrice()"),
            ("of an entity", "/Products({product})/{ns}.GetTotalPrice(taxRate=0.1)"),
            ("by its name alone, of an entity", "/Products({product})/GetTotalPrice(taxRate=0.1)"),
            ("entities of an entity", "/Products({product})/GetRelatedProducts()"),
            ("an overload", "/Products({product})/CalculatePrice(discount=10)"),
            ("another", "/Products({product})/CalculatePrice(discount=10,tax=5)"),
            ("an overload by options", "/Products({product})/CalculatePrice?discount=10"),
            ("a text", "/Products({product})/GetInfo(format='short')"),
            ("an overload by type", "/Convert(input='5')"),
            ("another by type", "/Convert(number=5)"),
            ("options on the result", "/GetTopProducts()?$select=Name"),
            ("filtered", "/GetTopProducts()?$filter=Price gt 500"),
        )
    ]
    + [
        (text, f"GET {address}", (400, 404, 405, 501))
        for text, address in (
            ("an unknown function", "/Nonsense()"),
            ("an unknown parameter", "/GetTopProducts(nonsense=1)"),
            ("an unknown option", "/GetTopProducts()?__invalid=1"),
            ("a missing parameter", "/FindProducts(name='x')"),
            ("a parameter of another type", "/GetTopProducts(count='x')"),
            ("an unknown overload", "/Calculate(a=1)"),
            ("a missing parameter, bound", "/Products({product})/GetTotalPrice()"),
            ("an action by GET", "/ResetProducts"),
            ("a bound action by GET", "/Products({product})/ApplyDiscount"),
        )
    ]
    + [
        ("of an unknown entity", "GET /Products({nobody})/GetTotalPrice(taxRate=0.1)", 404),
        ("a function by POST", "POST /GetTopProducts()", (400, 404, 405)),
        ("an action", "POST /ResetProducts", (200, 204)),
        ("an action with an answer", "POST /ResetAllPrices", 200),
        ("an action of a collection", "POST /Products/MarkAllAsReviewed", (200, 204)),
        ("an action of an entity", "POST /Products({product})/{ns}.Activate", (200, 204)),
        ("an action of an unknown entity", "POST /Products({nobody})/Activate", 404),
        ("an unknown action", "POST /Products({product})/Nonsense", (400, 404, 405)),
    ],
)


@expects("12.1 Operations", "functions give what they compute")
def _functions(service: Service) -> None:
    prices = {row["Name"]: row["Price"] for row in service.rows("")}
    top = service.get("/GetTopProducts()")["value"]
    assert [row["Name"] for row in top] == sorted(prices, key=lambda name: -prices[name])
    assert len(service.get("/GetTopProducts(count=2)")["value"]) == 2
    kitchen = service.get("/GetTopProducts(count=5,category='Kitchen')")["value"]
    assert [row["Name"] for row in kitchen] == ["Coffee Mug"]
    stats = service.get("/GetProductStats()")
    assert stats["totalProducts"] == 7 and stats["maxPrice"] == max(prices.values())
    average = service.get("/Products/GetAveragePrice()")["value"]
    assert round(average, 4) == round(sum(prices.values()) / 7, 4)
    total = service.get("/Products({product})/GetTotalPrice(taxRate=0.1)")["value"]
    assert round(total, 4) == round(prices["Laptop"] * 1.1, 4)
    price = service.get("/Products({product})/CalculatePrice(discount=10,tax=5)")["value"]
    assert round(price, 4) == round(prices["Laptop"] * 0.9 * 1.05, 4)
    assert service.get("/Calculate(value=4)")["value"] == 8
    assert service.get("/Calculate(a=4,b=5)")["value"] == 9
    assert service.get("/Convert(input='x')")["value"] == "String: x"
    assert service.get("/Convert(number=5)")["value"] == "Number: 5"
    info = service.get("/Products({product})/GetInfo(format='short')")["value"]
    assert info == "Product: Laptop (Price: 999.99) in short format"
    related = service.get("/Products({product})/GetRelatedProducts()")["value"]
    assert len(related) <= 5 and "Laptop" not in {row["Name"] for row in related}


@expects("12.1 Operations", "actions change what they say")
def _actions(service: Service) -> None:
    path = service.filled("/Products({product})")
    answer = service.send("POST", f"{path}/ApplyDiscount", {"percentage": 10})
    assert answer.status_code in (200, 204)
    after = service.get(path)
    assert round(after["Price"], 4) == round(999.99 * 0.9, 4) and after["Version"] == 2
    assert service.send("POST", f"{path}/IncreasePrice", {"amount": 1}).status_code == 204
    assert round(service.get(path)["Price"], 4) == round(999.99 * 0.9 + 1, 4)
    computed = service.send("POST", f"{path}/CalculateDiscount", {"percentage": 50})
    assert computed.status_code == 200
    assert round(computed.json["value"], 4) == round(service.get(path)["Price"] / 2, 4)
    chair = service.rows("$filter=Name eq 'Office Chair'")[0]["ID"]
    assert service.send("POST", f"/Products({chair})/Activate").status_code == 204
    assert service.get(f"/Products({chair})")["Status"] == "InStock"
    reset = service.send("POST", "/ResetAllPrices").json
    assert {"message", "updatedCount"} <= set(reset)


@expects("12.2 Overloads", "the action is chosen by its parameters")
def _process(service: Service) -> None:
    mug = service.rows("$filter=Name eq 'Coffee Mug'")[0]
    least = {"percentage": 10, "minPrice": 100}
    assert service.send("POST", "/Process", least).status_code == 204
    assert service.get(f"/Products({mug['ID']})")["Price"] == mug["Price"]
    assert service.send("POST", "/Process", {"percentage": 10}).status_code == 204
    assert service.get(f"/Products({mug['ID']})")["Price"] < mug["Price"]
    assert_error(service.send("POST", "/Process", {"minPrice": 5}))


@expects("11.4.13 Parameters of actions", "what is missing or of another type is refused")
def _parameters(service: Service) -> None:
    path = service.filled("/Products({product})/ApplyDiscount")
    for body in ({}, {"percentage": "x"}, {"nonsense": 1}, {"percentage": None}):
        assert_error(service.send("POST", path, body), 400)
    assert service.get(service.filled("/Products({product})"))["Price"] == 999.99
