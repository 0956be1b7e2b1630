"""Tests are where they are looked for: ``mirror.py`` says the rule."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.mirror import TESTS, has_logic, mirror, offers, room, without_tests
from tests.architecture.modules import APP, ROOT, sources

# What only requests reach, through more than one module of the room; the list may only shrink.
FURTHER_IN = {
    "bi.questions": "realise",
    "odata": "routes service",
    "odata.aggregation": "grouping pipeline rowset",
    "odata.batch": "references service",
    "odata.binding": "arithmetic bound_calls casts comparison ordering",
    "odata.reading": "all_entities binder crossjoin keyset representation selection",
    "odata.sql": "decimals operands",
}


def test_every_module_is_reached_by_a_test_of_its_room() -> None:
    listed = {f"app.{room}.{name}" for room, names in FURTHER_IN.items() for name in names.split()}
    modules = without_tests()
    assert not modules - listed, "mirror.py says where tests are looked for"
    assert not listed - modules, "these have tests now: take them off the list"


def test_every_room_has_its_tests() -> None:
    rooms = {room(name) for name, tree in sources().items() if has_logic(tree)}
    assert not [name for name in rooms if not list((TESTS / name).glob("test_*.py"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@area.post("/<int:ticket_id>/merge")\ndef view(): ...', {"merge"}),
        ('Operation(name="Send", path="/<int:invoice_id>/send")', {"send"}),
        ('@cli.command("verify")\ndef verify(): ...', {"verify"}),
        ('@area.get("/<int:key>")\ndef view(): ...', set()),
        ('record.get("name")', set()),
    ],
)
def test_a_module_offers_addresses_and_commands(text: str, expected: set[str]) -> None:
    assert offers(ast.parse(text)) == expected


def test_the_root_has_what_every_room_knows() -> None:
    """Fourteen modules at most (docs/adr/0050); what else there is has a room."""
    assert len(list(APP.glob("[!_]*.py"))) <= 14


def test_the_root_belongs_to_no_room() -> None:
    assert [room(name) for name in ("app", "app.money", "app.crm", "app.crm.search.kinds")] == [
        "", "", "crm", "crm",
    ]  # fmt: skip


def test_a_module_is_tested_at_its_own_place() -> None:
    assert mirror(APP / "odata/syntax/lexer.py") == ROOT / "tests/odata/syntax/test_lexer.py"
    assert mirror(APP / "money.py") == ROOT / "tests/test_money.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("def f(): ...", True), ("class A:\n async def f(self): ...", True), ("A = 1", False)],
)
def test_what_defines_a_function_has_logic(text: str, expected: bool) -> None:
    assert has_logic(ast.parse(text)) is expected
