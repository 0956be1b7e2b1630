"""Sections 11.2.5: system query options."""

from __future__ import annotations

from tests.suite.registry import assert_error, expect_statuses, expects
from tests.suite.service import Service

expect_statuses(
    "11.2.5.2 $select, $orderby",
    [
        ("some properties", "GET /Products?$select=Name,Price", 200),
        ("all", "GET /Products?$select=*", 200),
        ("an unknown one", "GET /Products?$select=Nothing", 400),
        ("a part of a complex value", "GET /Products?$select=ShippingAddress/City", 200),
        ("an unknown part", "GET /Products?$select=ShippingAddress/Unknown", 400),
        ("of an entity", "GET /Products({product})?$select=Name", 200),
        ("of the singleton", "GET /Company?$select=Name", 200),
        ("by an unknown property", "GET /Products?$orderby=Nothing", 400),
        ("by no direction", "GET /Products?$orderby=Name upwards", 400),
        ("by two", "GET /Products?$orderby=CategoryID,Price desc", 200),
        ("by an expression", "GET /Products?$orderby=length(Name) desc", 200),
        ("by a complex part", "GET /Products?$orderby=ShippingAddress/City", 200),
        ("by what is behind navigation", "GET /Products?$orderby=Category/Name,Name", 200),
        ("by a count", "GET /Products?$orderby=Descriptions/$count desc", 200),
    ],
)
expect_statuses(
    "11.2.5.3 $top, $skip",
    [
        ("two", "GET /Products?$top=2", 200),
        ("none", "GET /Products?$top=0", 200),
        ("beyond the end", "GET /Products?$skip=100", 200),
        ("less than none", "GET /Products?$top=-1", 400),
        ("skip less than none", "GET /Products?$skip=-1", 400),
        ("no number", "GET /Products?$top=x", 400),
        ("a fraction", "GET /Products?$skip=1.5", 400),
        ("empty", "GET /Products?$top=", 400),
        ("of an entity", "GET /Products({product})?$top=1", 400),
    ],
)
expect_statuses(
    "11.2.5.4 $apply",
    [
        (text, f"GET /Products?$apply={apply}", 200)
        for text, apply in (
            ("aggregate", "aggregate(Price with sum as Total)"),
            ("count", "aggregate($count as N)"),
            (
                "average, least, greatest, distinct",
                "aggregate(Price with average as A,Price with min as B,Price with max as C,"
                "CategoryID with countdistinct as D)",
            ),
            ("groups", "groupby((CategoryID))"),
            ("groups of two", "groupby((CategoryID,Status),aggregate($count as N))"),
            ("groups behind navigation", "groupby((Category/Name),aggregate(Price with sum as T))"),
            (
                "a filter before",
                "filter(Price gt 100)/groupby((CategoryID),aggregate($count as N))",
            ),
            ("a filter behind", "groupby((CategoryID),aggregate($count as N))/filter(N gt 1)"),
            ("compute", "compute(Price mul 2 as Twice)"),
            ("subtotals", "groupby((rollup(CategoryID,Status)),aggregate($count as N))"),
            ("subtotals of all", "groupby((rollup($all,CategoryID)),aggregate($count as N))"),
            ("one behind the other", "concat(aggregate($count as N),groupby((CategoryID)))"),
            ("the first", "topcount(2,Price)"),
            ("the last", "bottomcount(2,Price)"),
            ("those that make a sum", "topsum(2000,Price)"),
            ("those that make a part", "toppercent(50,Price)"),
            ("the least that make a sum", "bottomsum(100,Price)"),
            ("the least that make a part", "bottompercent(50,Price)"),
            ("identity", "identity"),
            ("order, skip and top", "orderby(Price desc)/skip(1)/top(2)"),
            ("search", "search(Laptop)"),
            ("groups of which each is cut", "groupby((CategoryID),topcount(1,Price))"),
            ("groups with an order", "groupby((CategoryID),orderby(Price desc)/top(1))"),
            (
                "groups filtered",
                "groupby((CategoryID),filter(Price gt 100)/aggregate($count as N))",
            ),
            ("join", "join(Descriptions as D)/aggregate($count as N)"),
            ("outer join", "outerjoin(Descriptions as D)/aggregate($count as N)"),
            ("nest", "nest(groupby((CategoryID)) as G)"),
        )
    ]
    + [
        (text, f"GET /Products?$apply={apply}", 400)
        for text, apply in (
            ("an unknown transformation", "nonsense(Price)"),
            ("an unknown property", "aggregate(Nothing with sum as T)"),
            ("no method", "aggregate(Price with nonsense as T)"),
            ("no name", "aggregate(Price with sum)"),
            ("a sum of texts", "aggregate(Name with sum as T)"),
            ("nothing closed", "groupby((CategoryID)"),
            ("less than one row", "topcount(0,Price)"),
            ("more than all", "toppercent(101,Price)"),
            ("no number", "topcount('x',Price)"),
        )
    ]
    + [
        (
            "hierarchies",
            "GET /Products?$apply=ancestors($root/Products,H,ID,filter(true))",
            (200, 400, 501),
        )
    ],
)
expect_statuses(
    "11.2.5.5 $count",
    [
        ("true", "GET /Products?$count=true", 200),
        ("false", "GET /Products?$count=false", 200),
        ("no Boolean", "GET /Products?$count=yes", 400),
    ],
)
expect_statuses(
    "11.2.5.6 $expand",
    [
        (text, f"GET /Products?$expand={expand}", 200)
        for text, expand in (
            ("one", "Category"),
            ("many", "Descriptions"),
            ("both", "Category,Descriptions"),
            ("all", "*"),
            ("the references of all", "*/$ref"),
            ("with properties", "Category($select=Name)"),
            ("with a filter", "Descriptions($filter=LanguageKey eq 'EN')"),
            ("with an order", "Descriptions($orderby=LanguageKey desc)"),
            ("with top and skip", "Descriptions($top=1;$skip=0)"),
            ("with a count", "Descriptions($count=true)"),
            ("with a search", "Descriptions($search=laptop)"),
            ("deeper", "Category($expand=Products($select=Name))"),
            ("references", "Descriptions/$ref"),
            ("the number", "Descriptions/$count"),
            ("levels", "Descriptions($levels=2)"),
            ("levels and a count", "Descriptions($count=true;$levels=2)"),
            ("compute", "Descriptions($compute=length(Description) as L;$select=L)"),
        )
    ]
    + [
        (text, f"GET /Products?$expand={expand}", 400)
        for text, expand in (
            ("an unknown one", "Nothing"),
            ("a property", "Name"),
            ("an unknown option", "Category($nonsense=1)"),
            ("twice", "Category,Category"),
            ("nothing closed", "Category($select=Name"),
        )
    ]
    + [
        ("of an entity", "GET /Products({product})?$expand=Category", 200),
        ("behind navigation", "GET /Categories?$expand=Products($expand=Descriptions)", 200),
    ],
)
expect_statuses(
    "11.2.5.8 Aliases",
    [
        ("of a number", "GET /Products?$filter=Price gt @p&@p=100", 200),
        ("of a text", "GET /Products?$filter=contains(Name,@t)&@t='Laptop'", 200),
        ("used twice", "GET /Products?$filter=Price gt @p or Rating gt @p&@p=100", 200),
        ("not given is null", "GET /Products?$filter=Description eq @none", 200),
        ("of a key", "GET /Products(@k)?@k={product}", 200),
        (
            "in an expansion",
            "GET /Products?$expand=Descriptions($filter=LanguageKey eq @l)&@l='EN'",
            200,
        ),
        ("that is malformed", "GET /Products?$filter=Price gt @p&@p='", 400),
    ],
)
expect_statuses(
    "11.2.5.10 Combinations",
    [
        (
            "all of them",
            "GET /Products?$filter=Price gt 9&$orderby=Price&$top=2&$skip=1&$count=true&$select=ID",
            200,
        ),
        (
            "with an expansion",
            "GET /Products?$filter=Category/Name eq 'Electronics'&$expand=Category&$select=Name",
            200,
        ),
        ("an unknown system option", "GET /Products?$nonsense=1", (400, 501)),
        ("a custom option", "GET /Products?custom=1", 200),
    ],
)
expect_statuses(
    "11.2.5.7 $skiptoken",
    [
        ("made up", "GET /Products?$skiptoken=nonsense", 400),
        ("of a delta, made up", "GET /Products?$deltatoken=nonsense", (400, 410)),
    ],
)
expect_statuses(
    "11.2.5.9 $search",
    [
        ("a word", "GET /Products?$search=Laptop", 200),
        ("a phrase", 'GET /Products?$search="Wireless Mouse"', 200),
        ("or", "GET /Products?$search=Laptop OR Mouse", 200),
        ("not", "GET /Products?$search=NOT Laptop", 200),
        ("nothing", "GET /Products?$search=", 400),
        ("an open quote", 'GET /Products?$search="Laptop', 400),
    ],
)


@expects("11.2.5.2 $select, $orderby", "only what is selected is shown, with the tag")
def _selected(service: Service) -> None:
    for row in service.rows("$select=Name,Price"):
        assert {name for name in row if "@" not in name} <= {"Name", "Price", "ID"}
        assert {"Name", "Price"} <= set(row)


@expects("11.2.5.2 $select, $orderby", "rows are in the order, nulls before all values")
def _ordered(service: Service) -> None:
    prices = [row["Price"] for row in service.rows("$orderby=Price")]
    assert prices == sorted(prices)
    assert [row["Price"] for row in service.rows("$orderby=Price desc")] == prices[::-1]
    dates = [row["ReleaseDate"] for row in service.rows("$orderby=ReleaseDate")]
    assert dates[0] is None and dates[-1] == "2024-12-31"


@expects("11.2.5.3 $top, $skip", "are parts of one order that is stable")
def _parts(service: Service) -> None:
    names = service.names("")
    assert names[0] == "Laptop" and service.names("") == names
    assert service.names("$top=2") == names[:2]
    assert service.names("$skip=2&$top=3") == names[2:5]
    assert service.names("$top=0") == []


@expects("11.2.5.7 $skiptoken", "links lead through all rows once")
def _links(service: Service) -> None:
    found, address = [], "/Products?$orderby=Name"
    for _ in range(10):
        answer = service.send("GET", address, Prefer="maxpagesize=3")
        found += [row["Name"] for row in answer.json["value"]]
        link = answer.json.get("@odata.nextLink")
        if link is None:
            break
        assert link.startswith(("/", "http"))
        address = link.removeprefix("http://localhost")
    assert found == service.names("$orderby=Name")


@expects("11.2.5.7 $skiptoken", "$top=3 has a link unless all rows came")
def _top_three(service: Service) -> None:
    body = service.get("/Products?$top=3")
    assert "@odata.nextLink" in body or len(body["value"]) == 7


@expects("11.2.5.5 $count", "counts what passes the filter, whatever the page")
def _counted(service: Service) -> None:
    body = service.get("/Products?$count=true&$top=1&$filter=Price gt 100")
    assert body["@odata.count"] == 5 and len(body["value"]) == 1
    assert "@odata.count" not in service.get("/Products?$count=false")
    assert service.send("GET", "/Products/$count").text == "7"
    assert service.send("GET", "/Products/$count?$filter=Price gt 100").text == "5"


@expects("11.2.5.6 $expand", "shows what is related, as it is by itself")
def _expanded(service: Service) -> None:
    row = service.rows("$top=1&$expand=Category,Descriptions($orderby=LanguageKey)")[0]
    assert row["Category"]["Name"] == "Electronics"
    assert [text["ProductID"] for text in row["Descriptions"]] == [row["ID"]] * len(
        row["Descriptions"]
    )
    assert service.rows("$top=1&$expand=RelatedProducts")[0]["RelatedProducts"] == []


@expects("11.2.5.6 $expand", "levels show the product inside each description")
def _levels(service: Service) -> None:
    for options in ("$levels=2", "$count=true;$levels=2"):
        row = service.rows(f"$top=1&$expand=Descriptions({options})")[0]
        assert {text["Product"]["Name"] for text in row["Descriptions"]} == {"Laptop"}


@expects("11.2.5.9 $search", "finds words, phrases and what they exclude")
def _search(service: Service) -> None:
    assert service.names("$search=Laptop AND Mouse") == []
    assert service.names("$search=Laptop Pro") == ["Premium Laptop Pro"]
    assert service.names('$search="Wireless Mouse"') == ["Wireless Mouse"]
    assert set(service.names("$search=Laptop")) == {"Laptop", "Premium Laptop Pro"}
    assert not any("Laptop" in name for name in service.names("$search=NOT Laptop"))
    assert len(service.names("$search=NOT Laptop")) == 5
    assert set(service.names("$search=Laptop OR Mug")) == {
        "Laptop",
        "Premium Laptop Pro",
        "Coffee Mug",
    }


@expects("11.2.5.4 $apply", "what there is not is refused, hierarchies without arguments, too")
def _nothing_such(service: Service) -> None:
    for apply in ("ancestors()", "DeScEnDaNtS()", "traverse()", "Default.CustomSetTransform()"):
        assert_error(service.send("GET", f"/Products?$apply={apply}"), 400)


@expects("11.2.5.4 $apply", "groups are filtered by $count")
def _by_count(service: Service) -> None:
    service.get("/Products?$apply=groupby((CategoryID))/filter($count gt 1)")


@expects("11.2.5.4 $apply", "gives the figures")
def _figures(service: Service) -> None:
    prices = [row["Price"] for row in service.rows("$top=1000")]
    (total,) = service.rows("$apply=aggregate(Price with sum as S,Price with max as M,$count as N)")
    assert round(total["S"], 2) == round(sum(prices), 2)
    assert (total["M"], total["N"]) == (max(prices), 7)
    groups = service.rows("$apply=groupby((Category/Name),aggregate($count as N))")
    assert {row["Category"]["Name"]: row["N"] for row in groups} == {
        "Electronics": 5,
        "Kitchen": 1,
        "Furniture": 1,
    }
    best = service.rows("$apply=groupby((CategoryID),topcount(1,Price))")
    assert {row["Name"] for row in best} == {"Premium Laptop Pro", "Coffee Mug", "Office Chair"}


@expects("11.2.5.10 Combinations", "what is asked twice or not known is told")
def _told(service: Service) -> None:
    twice = service.send("GET", "/Products?$top=1&$top=2")
    assert_error(twice, 400, "must not appear more than once")
    assert_error(service.send("GET", "/Products?$filtre=x"), 400, "unknown query option")
    wrong = service.send("GET", "/Products?$compute=InvalidSyntax")
    assert_error(wrong, 400, "invalid compute expression format")
    part = service.send("GET", "/Products?$filter=ShippingAddress/Unknown eq 'x'")
    assert_error(part, 400, "ShippingAddress/Unknown")
    assert_error(service.send("GET", "/Products?$filter=Price gt"), 400, "invalid $filter")
