"""Numbers that are no decimals, and what stands where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.odata.reading.conftest import Client
from tests.odata.reading.model import item_rows

Row = dict[str, Any]
ROWS = item_rows()


def weighs(number: float) -> Callable[[Row], bool]:
    return lambda row: row["weight"] == number


def everything(row: Row) -> bool:
    return True


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("-weight gt 2", weighs(-2.5)),
        ("weight add 1 eq -1.5", weighs(-2.5)),
        ("weight sub 0.5 eq -3", weighs(-2.5)),
        ("weight mul 2 eq -5", weighs(-2.5)),
        ("weight mod 2 eq -0.5", weighs(-2.5)),
        ("weight div 2 eq -1.25", weighs(-2.5)),
        ("weight divby 2 eq -1.25", weighs(-2.5)),
        ("weight div 0 eq -INF", lambda row: (row["weight"] or 0) < 0),
        ("weight mod 0 eq null", everything),
        ("floor(INF) eq INF and ceiling(-INF) eq -INF", everything),
        ("cast(INF,Edm.Decimal) eq null and cast(1e305,Edm.Decimal) eq null", everything),
        ("-(duration'P1D') lt duration'PT0S'", everything),
        ("level eq '2'", lambda row: row["level"] == "High"),
        ("level in ('0','3')", lambda row: row["level"] in ("Low", "Urgent")),
        ("10:00:00 lt time(at)", lambda row: row["at"].hour >= 10),
        ("binary'AQID' eq binary'AQID'", everything),
        ("01234567-89AB-cdef-0123-456789abcdef eq 01234567-89ab-cdef-0123-456789abcdef",
         everything),
    ],
)  # fmt: skip
def test_doubles_and_other_values_are_calculated(
    client: Client, text: str, predicate: Callable[[Row], bool]
) -> None:
    found = client.values(f"Items?$filter={quote(text)}&$select=id&$orderby=id")
    assert found == [row["id"] for row in ROWS if predicate(row)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", None), ("NaN add 1", None), ("-(NaN)", None), ("1e300", 1e300), ("INF", "INF"),
        ("-INF", "-INF"), ("null", None), ("10:00:00", "10:00:00.000000"),
        ("binary'AQID'", "AQID"), ("weight divby 0", "-INF"), ("-weight", 2.5),
    ],
)  # fmt: skip
def test_what_is_calculated_is_shown(client: Client, text: str, value: object) -> None:
    """NaN is null wherever it does not stand in a comparison: SQLite has no such value."""
    assert client.get(f"Items(6)?$compute={quote(text)} as x&$select=x")["x"] == value


def test_doubles_are_aggregated(client: Client) -> None:
    methods = ",".join(f"weight with {name} as {name}" for name in ("sum", "average", "max"))
    found = client.get(f"Items?$apply=filter(weight eq -2.5)/aggregate({methods})")["value"]
    assert found == [{"sum": -22.5, "average": -2.5, "max": -2.5}]


@pytest.mark.parametrize(
    ("address", "value", "text"),
    [
        ("Items(3)/extra/colour", "red", "red"),
        ("Items(3)/extra/score", 5, "5"),
        ("Items(4)/extra/score", 5.5, "5.50"),
        ("Items(5)/extra/colour", 5, "5"),
        ("Items(5)/extra/ok", True, "true"),
        ("Items(6)/extra/ok", False, "false"),
        ("Items(6)/extra/deep", {"x": [1, "a"]}, '{"x":[1,"a"]}'),
    ],
)
def test_a_member_that_is_not_declared_has_a_value_and_a_text(
    client: Client, address: str, value: object, text: str
) -> None:
    assert client.get(address)["value"] == value
    assert client.get(f"{address}/$value") == text


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("Items?$apply=aggregate(active with max as m)", 400, "max does not take Edm.Boolean"),
        ("Items?$apply=aggregate(price with Workshop.odd as m)", 501, "odd is not offered"),
        ("Items?$apply=groupby((rollup(name)),aggregate($count as n))", 501, "no hierarchies"),
        ("Items(1)/$filter(active)", 400, "$filter can only follow a collection"),
        ("Items?$filter=name/$filter(active)/$count eq 1", 400, "can only follow a collection"),
        ("Items?$select=place/street/x", 400, "street has no properties to select from"),
        ("Items?$filter=$root/Nothing(1)/name eq 'x'", 400, "there is no entity set 'Nothing'"),
        ("Items(1)/name(1)", 404, "name is followed by what is no part of it"),
        ("Items(1)(2)", 400, "an entity has only one key"),
    ],
)  # fmt: skip
def test_what_stands_where_it_cannot_is_refused(
    client: Client, address: str, status: int, words: str
) -> None:
    error = client.refused(address)
    assert (error["status"], words in error["message"]) == (status, True), error["message"]


@pytest.mark.parametrize("option", ["$select=id", "select=id", "$expand=Maker", "$select=*"])
@pytest.mark.parametrize("path", ["Items", "Items(2)", "Items(2)/Children", "Items(2)/Maker"])
def test_a_reference_has_nothing_to_select_or_expand(
    client: Client, path: str, option: str
) -> None:
    assert client.refused(f"{path}/$ref?{option}")["status"] == 400
    option = option.removeprefix("$")
    inner = f"Children/$ref(${option})"
    assert client.refused(f"Items?$expand={inner}")["status"] == 400


def test_references_are_filtered_sorted_counted_and_paged(client: Client) -> None:
    query = "$filter=id gt 2&$orderby=id desc&$top=2&$skip=1&$count=true"
    found = client.get(f"Items/$ref?{query}")
    rows = client.values(f"Items?{query}")
    assert [one["@odata.id"] for one in found["value"]] == [f"Items({key})" for key in rows]
