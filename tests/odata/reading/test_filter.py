"""``$filter``: what each operator and function lets through, told by a predicate in Python."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

Row = dict[str, Any]
ROWS = model.item_rows()
MAKERS = {row["id"]: row for row in model.MAKER_ROWS}
NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)


def children(row: Row) -> list[Row]:
    return [other for other in ROWS if other["parent_id"] == row["id"]]


def maker(row: Row) -> Row:
    return MAKERS.get(row["maker_id"]) or dict.fromkeys(("id", "name", "rank", "city"))


def begins_with_note(row: Row) -> bool:
    return row["note"] is not None and row["name"].startswith(row["note"])


def passes(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    found = client.values(f"Items?$filter={quote(text)}&$select=id&$orderby=id")
    assert found == [row["id"] for row in ROWS if predicate(row)]


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("note eq null", lambda r: r["note"] is None),
        ("note ne null", lambda r: r["note"] is not None),
        ("null eq null", lambda r: True),
        ("null", lambda r: False),
        ("not null", lambda r: False),
        ("tolower(null) eq null", lambda r: True),
        ("note ne 'alpha'", lambda r: r["note"] != "alpha"),
        ("'alpha' ne note", lambda r: r["note"] != "alpha"),
        ("size gt null", lambda r: False),
        ("not (size gt null)", lambda r: True),
        ("not (size gt 5)", lambda r: not (r["size"] is not None and r["size"] > 5)),
        ("not (size le 5)", lambda r: not (r["size"] is not None and r["size"] <= 5)),
        ("size gt 5 or size eq null", lambda r: r["size"] is None or r["size"] > 5),
        (
            "not contains(note,'alpha')",
            lambda r: r["note"] is not None and "alpha" not in r["note"],
        ),
        ("checked", lambda r: r["checked"] is True),
        ("not checked", lambda r: r["checked"] is False),
        ("checked ne true", lambda r: r["checked"] is not True),
        ("checked eq active", lambda r: r["checked"] == r["active"]),
        ("(not active) eq true", lambda r: not r["active"]),
        (
            "(not active) eq contains(name,note)",
            lambda r: r["note"] is not None and r["active"] != (r["note"] in r["name"]),
        ),
        ("(not active) ne (not checked)", lambda r: r["active"] != r["checked"]),
        ("(size gt 5) eq false", lambda r: not (r["size"] is not None and r["size"] > 5)),
        ("size in (1,null)", lambda r: r["size"] in (1, None)),
        ("not (size in (1,7))", lambda r: r["size"] not in (1, 7)),
        ("size in ()", lambda r: False),
        ("note eq @none", lambda r: r["note"] is None),
        ("Maker eq null", lambda r: r["maker_id"] is None),
        ("Maker/rank ne 3", lambda r: maker(r)["rank"] != 3),
        ("place eq null", lambda r: r["street"] is None and r["city"] is None),
        ("place/city eq 'Köln'", lambda r: r["city"] == "Köln"),
    ],
)
def test_null_is_a_value_of_its_own(
    client: Client, text: str, predicate: Callable[[Row], object]
) -> None:
    passes(client, text, predicate)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("price eq 100", lambda r: r["price"] == 100),
        ("price eq 100.00", lambda r: r["price"] == 100),
        ("price eq 1e2", lambda r: r["price"] == 100),
        ("price eq 100.005", lambda r: False),
        ("price ne 100.005", lambda r: True),
        ("price gt 100.005", lambda r: r["price"] > Decimal("100.005")),
        ("price ge 100.005", lambda r: r["price"] >= Decimal("100.005")),
        ("price lt 100.005", lambda r: r["price"] < Decimal("100.005")),
        ("price le 100.005", lambda r: r["price"] <= Decimal("100.005")),
        ("price le -0.005", lambda r: r["price"] <= Decimal("-0.005")),
        ("100.01 gt price", lambda r: r["price"] < Decimal("100.01")),
        (
            "price in (1.5,100.005,-0.010)",
            lambda r: r["price"] in (Decimal("1.5"), Decimal("-0.01")),
        ),
        ("price lt 99999999999999999999", lambda r: True),
        ("price gt -99999999999999999999.5", lambda r: True),
        ("price eq 99999999999999999999", lambda r: False),
        ("price lt INF", lambda r: True),
        ("price gt -INF", lambda r: True),
        ("price eq NaN", lambda r: False),
        ("price ne NaN", lambda r: True),
        ("size gt 4.5", lambda r: r["size"] is not None and r["size"] > 4.5),
        ("size eq 7.0", lambda r: r["size"] == 7),
        ("size eq 7.5", lambda r: False),
        ("cost gt price", lambda r: r["cost"] is not None and r["cost"] > r["price"]),
        ("cost eq 0.0001", lambda r: r["cost"] == Decimal("0.0001")),
        ("price eq count", lambda r: r["price"] == r["count"]),
        ("weight gt 0.05", lambda r: r["weight"] is not None and r["weight"] > 0.05),
        ("weight eq 0.1", lambda r: r["weight"] == 0.1),
        ("weight gt price", lambda r: r["weight"] is not None and r["weight"] > r["price"]),
    ],
)
def test_numbers_compare_exactly(
    client: Client, text: str, predicate: Callable[[Row], object]
) -> None:
    passes(client, text, predicate)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("5 div 2 eq 2", lambda r: True),
        ("-5 div 2 eq -2", lambda r: True),
        ("-5 mod 3 eq -2", lambda r: True),
        ("5 divby 2 eq 2.5", lambda r: True),
        ("1 divby 3 eq 0.333333333333", lambda r: True),
        ("2 divby 3 eq 0.666666666667", lambda r: True),
        ("1 add 2 mul 3 eq 7", lambda r: True),
        ("-count eq 3", lambda r: r["count"] == -3),
        ("- count lt 0", lambda r: r["count"] > 0),
        ("price mul 3 gt 300", lambda r: r["price"] * 3 > 300),
        ("price sub 0.01 eq 100", lambda r: r["price"] == Decimal("100.01")),
        ("count div 0 eq null", lambda r: True),
        ("price divby 0 eq null", lambda r: True),
        ("count mod 2 eq 1", lambda r: r["count"] > 0 and r["count"] % 2 == 1),
        ("round(2.5) eq 3 and round(-2.5) eq -3", lambda r: True),
        ("round(2.5e0) eq 3 and round(-2.5e0) eq -3", lambda r: True),
        ("round(0.49999999999999994e0) eq 0", lambda r: True),
        ("round(4503599627370497e0) eq 4503599627370497e0", lambda r: True),
        ("round(INF) eq INF and round(-INF) eq -INF", lambda r: True),
        ("floor(-0.5) eq -1 and ceiling(-0.5) eq 0", lambda r: True),
        ("round(price) eq 100", lambda r: round(r["price"]) == 100),
        ("round(weight) eq -3", lambda r: r["weight"] == -2.5),
    ],
)
def test_arithmetic(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    passes(client, text, predicate)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("name eq 'alpha'", lambda r: r["name"] == "alpha"),
        ("name eq 'O''Neil'", lambda r: r["name"] == "O'Neil"),
        ("name gt 'Z'", lambda r: r["name"] > "Z"),
        ("name le 'a'", lambda r: r["name"] <= "a"),
        ("contains(name,'%')", lambda r: "%" in r["name"]),
        ("contains(name,'50%')", lambda r: "50%" in r["name"]),
        ("contains(name,'0_o')", lambda r: "0_o" in r["name"]),
        ("contains(name,'a\\b')", lambda r: "a\\b" in r["name"]),
        ("contains(name,'')", lambda r: True),
        ("contains(note,'')", lambda r: r["note"] is not None),
        ("contains(name,'acme')", lambda r: "acme" in r["name"]),
        ("contains(name,'say \"hi')", lambda r: 'say "hi' in r["name"]),
        ("contains(name,'line\nbr')", lambda r: "line\nbr" in r["name"]),
        ("contains(name,'日本語')", lambda r: "日本語" in r["name"]),
        ("contains('the acme ltd',name)", lambda r: r["name"] in "the acme ltd"),
        ("contains(tolower(name),'acme')", lambda r: "acme" in r["name"].lower()),
        ("startswith(name,'50_')", lambda r: r["name"].startswith("50_")),
        ("startswith(name,'')", lambda r: True),
        ("startswith(note,'')", lambda r: r["note"] is not None),
        ("startswith(name,'𝄞')", lambda r: r["name"].startswith("𝄞")),
        ("startswith(tolower(name),'z')", lambda r: r["name"].lower().startswith("z")),
        ("startswith(name,note)", begins_with_note),
        ("endswith(name,'beta')", lambda r: r["name"].endswith("beta")),
        ("endswith(name,'ETA')", lambda r: r["name"].endswith("ETA")),
        ("endswith(name,'%')", lambda r: r["name"].endswith("%")),
        ("endswith(name,'')", lambda r: True),
        ("endswith(name,concat('e','é'))", lambda r: r["name"].endswith("eé")),
        ("length(name) eq 6", lambda r: len(r["name"]) == 6),
        ("indexof(name,'a') eq -1", lambda r: "a" not in r["name"]),
        ("indexof(name,'clef') eq 2", lambda r: r["name"].find("clef") == 2),
        ("substring(name,1) eq 'lpha'", lambda r: r["name"][1:] == "lpha"),
        ("substring(name,-3) eq 'pha'", lambda r: r["name"][-3:] == "pha"),
        ("substring(name,-99) eq name", lambda r: True),
        ("substring(name,99) eq ''", lambda r: True),
        ("substring(name,1,2) eq 'lp'", lambda r: r["name"][1:3] == "lp"),
        ("substring(name,0,count) eq substring(name,0)", lambda r: len(r["name"]) <= r["count"]),
        ("tolower(name) eq 'zürich'", lambda r: r["name"].lower() == "zürich"),
        ("toupper(name) eq 'STRASSE'", lambda r: r["name"].upper() == "STRASSE"),
        ("tolower(name) eq 'σίσυφος'", lambda r: r["name"].lower() == "σίσυφος"),
        ("trim(name) eq 'padded'", lambda r: r["name"].strip() == "padded"),
        ("concat(concat(name,'-'),note) eq 'Alpha-no'",
         lambda r: r["note"] is not None and f"{r['name']}-{r['note']}" == "Alpha-no"),
        ("matchesPattern(name,'^[Aa]l.ha$')", lambda r: r["name"].lower() == "alpha" and
         r["name"] != "ALPHA"),
        ("matchesPattern(name,'\\d+_')", lambda r: r["name"].startswith("50_")),
        ("name in ('alpha','O''Neil')", lambda r: r["name"] in ("alpha", "O'Neil")),
        ("note in ['alpha','']", lambda r: r["note"] in ("alpha", "")),
        ('note in ["no","_"]', lambda r: r["note"] in ("no", "_")),
        ("CONTAINS(Name,'acme') AND Active", lambda r: "acme" in r["name"] and r["active"]),
    ],
)  # fmt: skip
def test_texts(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    passes(client, text, predicate)


def on(day: str) -> date:
    return date.fromisoformat(day)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("at gt 2024-01-01", lambda r: r["at"] > NEW_YEAR),
        ("at ge 2024-01-01", lambda r: r["at"] >= NEW_YEAR),
        ("at lt 2024-01-01", lambda r: r["at"] < NEW_YEAR),
        ("at le 2024-01-01", lambda r: r["at"] <= NEW_YEAR),
        ("at eq 2024-01-01", lambda r: r["at"].date() == on("2024-01-01")),
        ("at ne 2024-01-01", lambda r: r["at"].date() != on("2024-01-01")),
        ("seen ne 2024-01-01", lambda r: r["seen"] is None or r["seen"].date() != on("2024-01-01")),
        ("not (seen eq 2024-01-01)",
         lambda r: r["seen"] is None or r["seen"].date() != on("2024-01-01")),
        ("at in (2024-01-01,1970-01-01)",
         lambda r: r["at"].date() in (on("2024-01-01"), on("1970-01-01"))),
        ("at eq 2024-01-01T01:00:00+01:00", lambda r: r["at"] == NEW_YEAR),
        ("at eq 2024-01-01T00:00Z", lambda r: r["at"] == NEW_YEAR),
        ("at ge 2024-01-01T23:59:59.9985Z",
         lambda r: r["at"] >= NEW_YEAR.replace(hour=23, minute=59, second=59, microsecond=998500)),
        ("at eq 2024-01-01T23:59:59.9995Z", lambda r: False),
        ("date(at) eq 2024-02-29", lambda r: r["at"].date() == on("2024-02-29")),
        ("made gt 2024-01-01", lambda r: r["made"] is not None and r["made"] > on("2024-01-01")),
        ("made ge 2024-01-01T00:00:01Z",
         lambda r: r["made"] is not None and r["made"] > on("2024-01-01")),
        ("year(at) eq 2024 and month(at) eq 2", lambda r: str(r["at"]).startswith("2024-02")),
        ("day(made) eq 31", lambda r: r["made"] is not None and r["made"].day == 31),
        ("hour(at) eq 12 and minute(at) eq 34 and second(at) eq 56", lambda r: r["at"].hour == 12),
        ("fractionalseconds(at) eq 0.789", lambda r: r["at"].microsecond == 789000),
        ("totaloffsetminutes(at) eq 0", lambda r: True),
        ("time(at) eq 12:34:56.789", lambda r: r["at"].hour == 12),
        ("at lt now()", lambda r: True),
        ("at ge mindatetime() and at le maxdatetime()", lambda r: True),
        ("at add duration'P1D' eq 2024-01-02T00:00:00Z", lambda r: r["at"] == NEW_YEAR),
        ("at add 'P1D' eq 2024-01-02T00:00:00Z", lambda r: r["at"] == NEW_YEAR),
        ("at sub duration'PT1M' lt 2023-12-31T23:59:00Z",
         lambda r: r["at"] - timedelta(minutes=1) < NEW_YEAR - timedelta(minutes=1)),
        ("at sub 2024-01-01T00:00:00Z eq duration'PT0S'", lambda r: r["at"] == NEW_YEAR),
        ("made add duration'P1D' eq 2024-03-01", lambda r: r["made"] == on("2024-02-29")),
        ("'P1D' add made eq 2024-03-01", lambda r: r["made"] == on("2024-02-29")),
        ("at add duration'P3652000D' eq null", lambda r: True),
        ("at sub duration'P3652000D' eq null", lambda r: True),
        ("totalseconds(duration'PT1M') eq 60", lambda r: True),
        ("duration'PT1H' gt duration'PT59M'", lambda r: True),
        ("duration'PT1H' mul 2 eq duration'PT2H'", lambda r: True),
        ("seen sub at gt duration'P1D'",
         lambda r: r["seen"] is not None and r["seen"] - r["at"] > timedelta(days=1)),
    ],
)  # fmt: skip
def test_dates_and_times(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    passes(client, text, predicate)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("level gt 'Normal'", lambda r: r["level"] in ("High", "Urgent")),
        ("level gt Workshop.Level'Normal'", lambda r: r["level"] in ("High", "Urgent")),
        ("level eq 'Low'", lambda r: r["level"] == "Low"),
        ("level eq 3", lambda r: r["level"] == "Urgent"),
        ("level in ('Low','Urgent')", lambda r: r["level"] in ("Low", "Urgent")),
        ("level has 'Urgent'", lambda r: r["level"] == "Urgent"),
        ("level has level", lambda r: True),
        ("cast(level,Edm.Int32) eq 2", lambda r: r["level"] == "High"),
        ("cast(price,Edm.String) eq '1.50'", lambda r: r["price"] == Decimal("1.50")),
        ("cast('3',Edm.Int32) eq 3", lambda r: True),
        ("cast(name,Edm.Int32) eq null", lambda r: True),
        ("cast(price,Edm.Int32) eq 100", lambda r: r["price"] in (Decimal(100), Decimal("100.01"),
                                                                  Decimal("99.99"))),
        ("cast(300,Edm.Byte) eq null", lambda r: True),
        ("cast(at,Edm.Date) eq 2024-02-29", lambda r: r["at"].date() == on("2024-02-29")),
        ("isof(name,Edm.String)", lambda r: True),
        ("isof(note,'Edm.String')", lambda r: r["note"] is not None),
        ("isof(name,Edm.Int32)", lambda r: False),
        ("isof(Workshop.Item)", lambda r: True),
        ("case(price gt 50:'big',true:'small') eq 'big'", lambda r: r["price"] > 50),
        ("case(size gt 5:1.5,size eq null:2) eq 2", lambda r: r["size"] is None),
        ("case(active:name) eq null", lambda r: not r["active"]),
        ("name eq @n", lambda r: r["name"] == "alpha"),
        ("extra/colour eq 'red'",
         lambda r: (r["extra"] or {}).get("colour") == "red"),
        ("extra/score gt 5", lambda r: (r["extra"] or {}).get("score", 0) > 5),
        ("extra/score eq 5.5", lambda r: (r["extra"] or {}).get("score") == Decimal("5.5")),
        ("extra/ok eq true", lambda r: (r["extra"] or {}).get("ok") is True),
        ("extra/colour eq null", lambda r: (r["extra"] or {}).get("colour") is None),
        ("extra eq null", lambda r: r["extra"] is None),
    ],
)  # fmt: skip
def test_other_types(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    query = f"$filter={quote(text)}&$select=id&$orderby=id&@n='alpha'"
    found = client.values(f"Items?{query}")
    assert found == [row["id"] for row in ROWS if predicate(row)]


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("Maker/name eq 'Delta'", lambda r: maker(r)["name"] == "Delta"),
        ("Parent/Maker/name eq 'Delta'",
         lambda r: r["parent_id"] and maker(ROWS[r["parent_id"] - 1])["name"] == "Delta"),
        ("Children/any()", children),
        ("not Children/any()", lambda r: not children(r)),
        ("Children/any(c:c/price gt 100)", lambda r: any(c["price"] > 100 for c in children(r))),
        ("Children/all(c:c/price gt 0)", lambda r: all(c["price"] > 0 for c in children(r))),
        ("Children/all(c:c/size gt 0)",
         lambda r: all(c["size"] is not None and c["size"] > 0 for c in children(r))),
        ("Children/any(c:c/name gt name)",
         lambda r: any(c["name"] > r["name"] for c in children(r))),
        ("Children/any(c:c/name gt $it/name)",
         lambda r: any(c["name"] > r["name"] for c in children(r))),
        ("Children/any(c:c/Children/any(d:d/active and c/active))",
         lambda r: any(c["active"] and any(d["active"] for d in children(c)) for c in children(r))),
        ("Children/any(c:c/Maker/rank eq 3)",
         lambda r: any(maker(c)["rank"] == 3 for c in children(r))),
        ("Children/$count gt 5", lambda r: len(children(r)) > 5),
        ("Children/$count($filter=active) eq 4",
         lambda r: sum(c["active"] for c in children(r)) == 4),
        ("Children/$filter(active)/$count eq 4",
         lambda r: sum(c["active"] for c in children(r)) == 4),
        ("Children/$filter(active)/any(c:c/price gt 100)",
         lambda r: any(c["active"] and c["price"] > 100 for c in children(r))),
        ("Children/$count($search=acme) gt 0",
         lambda r: any("acme" in c["name"].lower() for c in children(r))),
        ("labels/any(l:l eq 'vip')", lambda r: "vip" in r["labels"]),
        ("labels/any(l:contains(l,'%'))", lambda r: any("%" in one for one in r["labels"])),
        ("labels/all(l:l eq 'vip')", lambda r: all(one == "vip" for one in r["labels"])),
        ("labels/$count eq 2", lambda r: len(r["labels"]) == 2),
        ("'vip' in labels", lambda r: "vip" in r["labels"]),
        ("lines/any(l:l/rate gt 18.99)",
         lambda r: any(one["rate"] and one["rate"] > 18 for one in r["lines"])),
        ("lines/any(l:l/rate eq null)", lambda r: any(one["rate"] is None for one in r["lines"])),
        ("lines/any(l:l/text eq 'b')", lambda r: any(one["text"] == "b" for one in r["lines"])),
        ("$it/name eq 'alpha'", lambda r: r["name"] == "alpha"),
        ("$root/Makers(1)/rank eq 3", lambda r: True),
        ("$root/Makers(2)/rank eq null", lambda r: True),
        ("Children(8)/active", lambda r: r["id"] == 1 and ROWS[7]["active"]),
        ("Children/aggregate(price with sum) gt 12000",
         lambda r: sum(c["price"] for c in children(r)) > 12000),
    ],
)  # fmt: skip
def test_navigation(client: Client, text: str, predicate: Callable[[Row], object]) -> None:
    passes(client, text, predicate)


def test_long_chains_and_deep_nesting_work(client: Client) -> None:
    chain = " or ".join(f"count eq {number}" for number in range(100))
    passes(client, chain, lambda r: r["count"] >= 0)
    deep = "not (" * 24 + "active" + ")" * 24
    passes(client, deep, lambda r: r["active"])
    sums = "count" + " add 1" * 15 + " eq 20"
    passes(client, sums, lambda r: r["count"] == 5)
