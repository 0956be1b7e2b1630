"""Names of expressions count for what they stand for, so no short query becomes endless SQL."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from tests.odata.reading.conftest import Client

_STEPS = 40


def _chain(step: str, first: str) -> list[str]:
    """``step`` of ``first`` as a0, ``step`` of a0 as a1, and so on."""
    names = [first, *(f"a{at}" for at in range(_STEPS))]
    return [f"{step.format(names[at])} as a{at}" for at in range(_STEPS)]


_COMPUTED: dict[str, Callable[[list[str]], str]] = {
    "$compute": lambda items: f"$select=id&$compute={','.join(items)}",
    "$apply": lambda items: "$apply=" + "/".join(f"compute({item})" for item in items),
    "derived tables": lambda items: (
        "$apply=" + "/".join(f"compute({item})/groupby(({item.split()[-1]}))" for item in items)
    ),
}


@pytest.mark.parametrize("form", _COMPUTED)
@pytest.mark.parametrize(
    ("step", "first"),
    [
        ("concat({0},{0})", "name"),
        ("{0} mul {0}", "cost"),
        ("{0} add {0}", "weight"),
        ("round({0}) add {0}", "weight"),
        ("{0} add duration'PT1S'", "at"),
        ("substring({0},1)", "name"),
        ("case(true:{0},true:concat({0},'x'))", "name"),
        ("cast({0},Edm.Decimal) add cast({0},Edm.Decimal)", "cost"),
    ],
)
def test_steps_that_double_are_refused_at_once(
    client: Client, form: str, step: str, first: str
) -> None:
    query = _COMPUTED[form](_chain(step, first)).replace(" ", "%20")
    started = process_time()
    error = client.refused(f"Items?$top=1&{query}")
    assert process_time() - started < 1
    assert error["status"] == 400
    assert "with every name written out the expression has more than" in error["message"]
    assert error["position"] > 0


def test_many_uses_of_one_name_are_refused(client: Client) -> None:
    total = "%20add%20".join(["cost"] * 15)
    uses = "%20or%20".join(["a%20gt%205"] * 100)
    error = client.refused(f"Items?$top=1&$compute={total}%20as%20a&$filter={uses}")
    assert "more than 4000 parts" in error["message"]
    place, within = divmod(error["position"], len("a gt 5 or "))
    assert within == 0 and 0 < place < 100


def test_an_alias_that_is_used_often_is_refused_where_it_stands(client: Client) -> None:
    members = ",".join(map(str, range(400)))
    uses = "%20or%20".join(["id%20in%20@a"] * 20)
    error = client.refused(f"Items?$filter={uses}&@a=[{members}]")
    assert "more than 4000 parts" in error["message"]
    assert error["position"] == len("id in @a or ") * 10 + len("id in ")


def test_a_text_beside_a_duration_is_looked_at_once(client: Client) -> None:
    nested = "at"
    for _ in range(4):
        nested = f"('PT1S'%20add%20{nested})"
    [row] = client.get(f"Items?$top=1&$select=at,later&$compute={nested}%20as%20later")["value"]
    assert row["later"] > row["at"]


def test_what_is_used_within_reason_is_answered(client: Client) -> None:
    computed = "concat(name,name) as a,concat(a,a) as b,concat(b,b) as c".replace(" ", "%20")
    rows = client.get(f"Items?$compute={computed}&$select=name,c")["value"]
    assert [row["c"] for row in rows] == [row["name"] * 8 for row in rows]
