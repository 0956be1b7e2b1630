"""Collections as operands: functions of texts that take them, equality, and members counted."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.odata.reading import model
from tests.odata.reading.conftest import Client

ITEMS = model.item_rows()


def found(client: Client, text: str) -> list[int]:
    query = f"Items?$filter={quote(text, safe='@&=')}&$select=id&$orderby=id"
    keys: list[int] = client.values(query)
    return keys


def with_labels(*kinds: list[str]) -> list[int]:
    return [row["id"] for row in ITEMS if row["labels"] in kinds]


BOTH, NONE, ONE, ODD = ["vip", "new"], [], ["vip"], ["O'x", "50%"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("length(labels) eq 2", (BOTH, ODD)),
        ("length(labels) gt 2", ()),
        ("contains(labels,['new'])", (BOTH,)),
        ("contains(labels,[\"vip\",\"new\"])", (BOTH,)),
        ("contains(labels,['new','vip'])", ()),
        ("contains(labels,[])", (BOTH, NONE, ONE, ODD)),
        ("contains(labels,@l)&@l=[\"50%25\"]", (ODD,)),
        ("startswith(labels,['vip'])", (BOTH, ONE)),
        ("startswith(labels,['vip','new','x'])", ()),
        ("not startswith(labels,['vip'])", (NONE, ODD)),
        ("endswith(labels,['vip'])", (ONE,)),
        ("endswith(labels,['vip','new'])", (BOTH,)),
        ("endswith(labels,[])", (BOTH, NONE, ONE, ODD)),
        ("indexof(labels,['new']) eq 1", (BOTH,)),
        ("indexof(labels,['new']) eq -1", (NONE, ONE, ODD)),
        ("indexof(labels,[]) eq 0", (BOTH, NONE, ONE, ODD)),
        ("labels eq ['vip']", (ONE,)),
        ("labels eq [\"O'x\",\"50%25\"]", (ODD,)),
        ("['vip','new'] eq labels", (BOTH,)),
        ("labels ne []", (BOTH, ONE, ODD)),
        ("not (labels eq ['vip'])", (BOTH, NONE, ODD)),
        ("labels eq labels", (BOTH, NONE, ONE, ODD)),
        ("labels eq ['new','vip']", ()),
        ("labels/$count($filter=$this eq 'vip') eq 1", (BOTH, ONE)),
        ("labels/$count($filter=startswith($this,'n') or length($this) eq 3) eq 2", (BOTH, ODD)),
        ("labels/$filter($this ne 'vip')/any()", (BOTH, ODD)),
        ("labels/$filter($this ne 'vip')/$count eq 1", (BOTH,)),
        ("labels/$filter(contains($this,'i'))/all(l:l eq 'vip')", (BOTH, NONE, ONE, ODD)),
    ],
)  # fmt: skip
def test_of_texts(client: Client, text: str, kinds: tuple[list[str], ...]) -> None:
    if text.startswith("labels/$count($filter=startswith"):
        kinds = (BOTH, ODD)
    assert found(client, text.replace("%25", "%")) == with_labels(*kinds)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("contains([1,2,3],[2,3])", True), ("contains([1,2,3],[1,3])", False),
        ("startswith([1,2],[1.0])", True), ("endswith([1,2],[2])", True),
        ("indexof([1,2,1,3],[1,3]) eq 2", True), ("length([1,2,null]) eq 3", True),
        ("contains([1,null],[null])", True), ("[1,2] eq [1,2.0]", True), ("[1] ne [1,1]", True),
    ],
)  # fmt: skip
def test_of_literals(client: Client, text: str, holds: bool) -> None:
    assert bool(found(client, text)) is holds


def test_members_of_complex_values(client: Client) -> None:
    expected = [
        row["id"] for row in ITEMS if sum((one["rate"] or 0) > 8 for one in row["lines"]) == 1
    ]
    assert found(client, "lines/$count($filter=rate gt 8) eq 1") == expected
    assert found(client, "lines/$filter($this/rate gt 8)/any(l:l/text eq 'a')") == expected


@pytest.mark.parametrize("member", ["$it", "$this"])
def test_a_member_behind_the_path_is_it(client: Client, member: str) -> None:
    address = f"Items(1)/labels?$filter=startswith({member},'v')&$orderby={member} desc"
    assert client.get(address)["value"] == ["vip"]
    assert client.get(f"Items(1)/labels/$count?$filter={member} ne 'vip'") == "1"
    lines = client.get(f"Items(3)/lines?$filter={member}/text eq 'c'&$count=true")
    assert (lines["@odata.count"], lines["value"]) == (1, [{"text": "c", "rate": None}])


def test_it_is_the_row_where_members_are_selected(client: Client) -> None:
    rows = client.get("Items?$select=id,labels($filter=$this ne $it/name)&$top=4&$orderby=id")
    assert [row["labels"] for row in rows["value"]] == [BOTH, NONE, ONE, ODD]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("concat(labels,['a']) eq labels", 501), ("substring(labels,1) eq labels", 501),
        ("labels gt ['a']", 400), ("labels eq [1]", 400), ("labels eq 'vip'", 400),
        ("contains(labels,'vip')", 400), ("length(name,labels) eq 1", 400),
        ("lines eq [\"a\"]", 501), ("contains(Children/name,['a'])", 400),
        ("labels/$count($search=a) eq 1", 400),
        ("hassubset(labels/$filter($this eq 'a'),['a'])", 501),
    ],
)  # fmt: skip
def test_what_is_refused(client: Client, text: str, status: int) -> None:
    answer = client.answer("Items", f"$filter={quote(text)}")
    assert answer.status == status, answer.body
