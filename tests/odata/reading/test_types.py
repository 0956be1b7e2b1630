"""Every operator and function beside every pair of primitive types, and beside null.

Each answer is 200, or 400 with the position of what has no meaning, never an error of a database;
and both databases give the same (``Client`` compares them).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count, islice, product

import pytest

from app.odata.functions import FUNCTIONS
from tests.odata.reading.conftest import Client
from tests.odata.reading.model import item_rows

ROWS = item_rows()
# Type -> values of a row that may be null, a literal, and null of that type.
TYPES = {
    "Edm.Boolean": ("checked", "true"),
    "Edm.Byte": ("cast(size,Edm.Byte)", "7"),
    "Edm.Int64": ("size", "-3"),
    "Edm.Decimal": ("cost", "2.5"),
    "Edm.Single": ("cast(size,Edm.Single)", "2e0"),
    "Edm.Double": ("weight", "1.5e0"),
    "Edm.String": ("note", "'alpha'"),
    "Edm.Date": ("made", "2024-02-29"),
    "Edm.DateTimeOffset": ("seen", "2024-01-01T00:00:00Z"),
    "Edm.TimeOfDay": ("time(seen)", "10:00:00"),
    "Edm.Duration": ("(seen sub at)", "duration'PT1H'"),
    "Edm.Guid": ("cast(note,Edm.Guid)", "01234567-89ab-cdef-0123-456789abcdef"),
    "Edm.Binary": ("cast(note,Edm.Binary)", "binary'AQID'"),
    "Workshop.Level": ("level", "Workshop.Level'High'"),
}
OPERANDS = {name: (*both, f"cast(null,{name})") for name, both in TYPES.items()}
OPERANDS["no type"] = ("null", "(1 add null)", "case(active:null)")
OPERATORS = (
    "eq", "ne", "gt", "ge", "lt", "le", "in", "and", "or", "add", "sub", "mul", "div", "divby",
    "mod", "has",
)  # fmt: skip
# Most are refused: more at once would be asked again more often.
AT_ONCE = 4
# Every fourth expression, beginning at each of the first four: any of these portions has each pair
# of types, and each operator with each type on either side. The short form has the first.
PORTIONS = 4
in_every_portion = pytest.mark.parametrize("portion", range(PORTIONS))
first_portion_only = pytest.mark.costly(PORTIONS)


def binary(operator: str, left: str, right: str) -> str:
    return f"{left} in ({right})" if operator == "in" else f"{left} {operator} {right}"


def answered(client: Client, expressions: Sequence[str]) -> int:
    """How many of the expressions have a value; each refused one is found by its position."""
    left = list(expressions)
    while left:
        named = [f"{text} as v{place}" for place, text in enumerate(left)]
        answer = client.answer("Items", f"$compute={','.join(named)}&$select=id&$orderby=id")
        names = ",".join(f"v{place}" for place in range(len(left)))
        if answer.status == 200:
            answer = client.answer("Items", f"$compute={','.join(named)}&$select={names}")
        if answer.status == 200:
            return len(left)
        assert answer.status in (400, 501), (left, answer.body)
        error = json.loads(answer.body)["error"]
        position, start = error["position"], 0
        for place, text in enumerate(named):
            start += len(text) + 1
            if position < start:
                del left[place]
                break
        else:
            pytest.fail(f"position {position} is in none of {named}")
    return 0


def in_portions(client: Client, expressions: Iterator[str], portion: int) -> int:
    every = list(islice(expressions, portion, None, PORTIONS))
    return sum(
        answered(client, every[start : start + AT_ONCE]) for start in range(0, len(every), AT_ONCE)
    )


def beside_each_other(operators: Sequence[str]) -> Iterator[str]:
    """Each operator with each pair of types; the forms of the operands take turns."""
    turns = count()
    for (left, right), operator in product(product(OPERANDS.values(), repeat=2), operators):
        turn = next(turns)
        yield binary(operator, left[turn % 3], right[turn // 3 % 3])


@first_portion_only
@in_every_portion
@pytest.mark.parametrize("operators", [OPERATORS[:7], OPERATORS[7:]], ids=["compare", "compute"])
def test_operators_take_every_pair_of_types_or_refuse_it(
    client: Client, operators: Sequence[str], portion: int
) -> None:
    assert in_portions(client, beside_each_other(operators), portion) > 200 / PORTIONS


def calls() -> Iterator[str]:
    turns = count()
    for name, function in FUNCTIONS.items():
        for number in {max(function.counts[0], 1), function.counts[-1]} - {0}:
            for operands in product(OPERANDS.values(), repeat=min(number, 2)):
                turn = next(turns)
                arguments = [one[(turn + at) % 3] for at, one in enumerate(operands)]
                yield f"{name}({','.join([*arguments, '1'][:number])})"
    for operands, wanted in product(OPERANDS.values(), TYPES):
        yield f"cast({operands[next(turns) % 3]},{wanted})"
    for left, right in product(OPERANDS.values(), repeat=2):
        turn = next(turns)
        yield f"case({left[turn % 3]}:1,active:2,true:3)"
        yield f"case(active:{left[turn % 3]},true:{right[turn // 3 % 3]})"
    for operands in OPERANDS.values():
        for one in operands:
            yield from (f"-{one}", f"not {one}", f"isof({one},Edm.String)")


@first_portion_only
@pytest.mark.parametrize(("portion", "least"), [(0, 90), (1, 72), (2, 74), (3, 68)])
def test_functions_take_every_type_or_refuse_it(client: Client, portion: int, least: int) -> None:
    assert in_portions(client, calls(), portion) > least


# --- what the values are


@pytest.mark.costly(3)
@pytest.mark.parametrize("operator", ["gt", "ge", "lt", "le"])
@pytest.mark.parametrize(
    "shape",
    [
        "Items?$filter={0}&$select=id&$orderby=id",
        "Items?$filter=not not ({0})&$select=id&$orderby=id",
        "Items?$filter=case({0}:true,true:false)&$select=id&$orderby=id",
        "Items?$compute={0} as c&$filter=c&$select=id&$orderby=id",
        "Items?$apply=filter({0})&$select=id&$orderby=id",
        "Items?$filter=@a&@a={0}&$select=id&$orderby=id",
        "Items?$filter=Maker/id eq null or ({0})&$select=id&$orderby=Maker/id ne null,id",
    ],
)
def test_false_is_less_than_true(client: Client, operator: str, shape: str) -> None:
    compare = {
        "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
        "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    }[operator]  # fmt: skip
    for left, right, values in (
        ("checked", "true", lambda r: (r["checked"], True)),
        ("false", "active", lambda r: (False, r["active"])),
        ("checked", "active", lambda r: (r["checked"], r["active"])),
        ("(size gt 0)", "(count gt 0)", lambda r: ((r["size"] or 0) > 0, r["count"] > 0)),
    ):
        expected = [
            row["id"]
            for row in ROWS
            if (None not in values(row) and compare(*values(row)))
            or ("Maker" in shape and row["maker_id"] is None)
        ]
        found = client.values(shape.format(f"{left} {operator} {right}"))
        assert sorted(found) == expected


def test_booleans_are_compared_in_any_and_all(client: Client) -> None:
    inner = "checked lt true"
    some = {row["parent_id"] for row in ROWS if row["checked"] is False}
    found = client.values(f"Items?$filter=Children/any(c:c/{inner})&$select=id&$orderby=id")
    assert found == sorted(some - {None})
    rest = {row["parent_id"] for row in ROWS if row["checked"] is not False}
    found = client.values(f"Items?$filter=Children/all(c:c/{inner})&$select=id&$orderby=id")
    assert found == [row["id"] for row in ROWS if row["id"] not in rest]


@pytest.mark.costly(3)
@pytest.mark.parametrize("name", [name for name in OPERANDS if name != "no type"])
@pytest.mark.parametrize("operator", ["gt", "le", "eq", "ne"])
def test_nothing_is_greater_or_less_than_null(client: Client, name: str, operator: str) -> None:
    value, literal, null = OPERANDS[name]
    for left, right in ((value, null), (null, literal), (null, null)):
        found = client.values(f"Items?$filter={left} {operator} {right}&$compute={value} as v")
        equal = operator in ("eq", "ne") and (left == null) is (right == null)
        same = client.values(f"Items?$filter={value} eq null&$select=id") if left == value else []
        everything = [row["id"] for row in ROWS]
        none = everything if equal else same
        expected = {"eq": none, "ne": [one for one in everything if one not in none]}
        assert found == expected.get(operator, [])


@pytest.mark.parametrize(
    "query",
    [
        "$apply=concat(compute(null as c),aggregate($count as n))",
        "$apply=concat(compute(cast(null,Edm.Date) as c),aggregate($count as n))",
        "$apply=concat(compute(1 add null as c),compute(id as d))",
        "$apply=groupby((id))/compute(null as c)/filter(c eq null)",
        "$apply=compute(null as c)/groupby((c),aggregate($count as n))",
        "$apply=compute(cast(null,Edm.Boolean) as c)/aggregate(c with countdistinct as n)",
        "$apply=compute(active lt false as c)/groupby((c),aggregate($count as n))",
        "$apply=groupby((checked),aggregate($count as n))/filter(checked lt true)",
        "$compute=null as c&$select=c&$filter=c eq null",
        "$orderby=case(active:null),id",
        "$orderby=name in (NaN),id",
        "$orderby=cast(null,Edm.Guid),true gt false,id",
        "$expand=Children($filter=checked lt true;$compute=null as c)",
    ],
)
def test_nulls_and_conditions_stand_wherever_values_do(client: Client, query: str) -> None:
    answer = client.answer("Items", query)
    if answer.status != 200:
        error = client.refused(f"Items?{query}")
        assert error["status"] == 400 and error["position"] is not None, error
