"""Every field of every entity refuses what it cannot keep, by name."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import BigInteger, Boolean, Column, Date, Integer, String, Text

from app.db.types import ExactDecimal, JsonText, OrdinalEnum, UtcDateTime
from app.errors import ValidationError
from app.http.security import Caller
from app.writing.rules import EntityRules
from app.writing.services import SERVICES
from tests.factories import MAKERS, create, stored

HUGE = 2**63
MEGABYTE = "x" * 1_000_000
TEXTS = {"NUL": "a\x00b", "half a surrogate": "a\ud800b", "1 MB": MEGABYTE}
GOOD_TEXTS = {"emoji": "Grüße 👋🏽", "right to left": "שלום عالم", "combining": "e\u0301"}
NOT_TEXT = (5, True, Decimal("1.5"), ["a"], {"a": 1})

FIELDS = [
    (service.rules, name) for service in SERVICES.values() for name in service.rules.all_writable
]


def ids(field: tuple[EntityRules, str]) -> str:
    return f"{field[0].name}.{field[0].wire(field[1])}"


def bad_values(column: Column[Any]) -> list[Any]:
    """Values that a column of this type must refuse, whatever else is said of it."""
    kind = column.type
    if column.name == "tags":
        return ["a", 5, [5], ["x" * 51], [" "], [f"t{n}" for n in range(21)], ["a\x00"], {"a": 1}]
    if isinstance(kind, JsonText):
        return ["a", 5, [1], {"a": MEGABYTE}, {"a": "\x00"}, {"a": {"b": ["\ud800"]}},
                {"a": Decimal("1e9999")}, {"\x00": 1}]  # fmt: skip
    if isinstance(kind, OrdinalEnum) or column.info.get("allowed"):
        allowed = kind.members if isinstance(kind, OrdinalEnum) else column.info["allowed"]
        alike = {allowed[0].lower(), allowed[0].upper(), f" {allowed[0]}"}
        return [*NOT_TEXT, *TEXTS.values(), "Nonsense", *sorted(alike - set(allowed))]
    if isinstance(kind, String | Text):
        refused = [*NOT_TEXT, *TEXTS.values()]
        takes_all = column.info.get("format") in (None, "file_name")
        return refused + ([] if takes_all else ["x"])
    if isinstance(kind, ExactDecimal):
        finer = Decimal(1).scaleb(-kind.scale - 1)
        wide = Decimal(10) ** (kind.precision - kind.scale)
        return ["5", True, 1.5, finer, wide, -wide, HUGE**3, Decimal("NaN"), Decimal("Infinity"),
                Decimal("1e999999"), [1]]  # fmt: skip
    if isinstance(kind, UtcDateTime):
        return [5, "2026-01-31", "2026-01-31T10:00:00", "soon", datetime(2026, 1, 1), True,
                "0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z"]  # fmt: skip
    if isinstance(kind, Boolean):
        return [0, 1, "true", Decimal(1), []]
    if isinstance(kind, Date):
        return [5, "2026-02-30", "31.01.2026", datetime(2026, 1, 1), "2026-01-31T00:00:00Z", True]
    if isinstance(kind, Integer):
        refused = ["5", True, Decimal("1.5"), 1.0, HUGE, -HUGE - 1, [5]]
        if column.foreign_keys:
            return [*refused, 0, -1, HUGE - 1, 987_654_321]
        return refused if isinstance(kind, BigInteger) else [*refused, 2**31, -(2**31) - 1]
    raise AssertionError(f"no bad values for {column!r}")


def problem_fields(rules: EntityRules, values: dict[str, Any]) -> set[str]:
    """The fields that creation names as wrong."""
    with pytest.raises(ValidationError) as refused:
        create(rules.name, values)
    return {detail.field for detail in refused.value.details}


@pytest.fixture
def valid() -> dict[str, dict[str, Any]]:
    """Entity -> the least that a record needs; other records that it refers to are there."""
    client_id = MAKERS["Client"]()
    return {
        "Client": {"name": "A"},
        "Contact": {"last_name": "A"},
        "Lead": {"company": "A"},
        "Opportunity": {"name": "A", "client_id": client_id},
        "Ticket": {"subject": "A"},
        "Invoice": {"client_id": client_id},
        "KbArticle": {"title": "A", "body": "B"},
        "Document": {"name": "A"},
        "Task": {"title": "A"},
        "Project": {"name": "A"},
        "Product": {"name": "A", "unit_price": 1},
    }


@pytest.mark.only_on("sqlite")
@pytest.mark.parametrize("field", FIELDS, ids=ids)
def test_a_field_refuses_what_it_cannot_keep(
    admin: Caller, valid: dict[str, dict[str, Any]], field: tuple[EntityRules, str]
) -> None:
    rules, name = field
    wire = rules.wire(name)
    for value in bad_values(rules.table.c[name]):
        fields = problem_fields(rules, valid[rules.name] | {name: value})
        assert wire in fields, f"{value!r:.60} was taken for {wire}"


@pytest.mark.parametrize(
    "field", [(rules, name) for rules, name in FIELDS if name in rules.references], ids=ids
)
def test_a_reference_to_nowhere_is_refused(
    admin: Caller, valid: dict[str, dict[str, Any]], field: tuple[EntityRules, str]
) -> None:
    rules, name = field
    for key in (0, -1, 987_654_321, HUGE - 1, HUGE):
        assert problem_fields(rules, valid[rules.name] | {name: key}) >= {rules.wire(name)}


@pytest.mark.parametrize("field", FIELDS, ids=ids)
def test_a_field_is_nullable_or_says_that_it_is_not(
    admin: Caller, valid: dict[str, dict[str, Any]], field: tuple[EntityRules, str]
) -> None:
    rules, name = field
    column = rules.table.c[name]
    values = valid[rules.name] | {name: None}
    if column.nullable and not (rules.name == "Lead" and name == "company"):
        assert stored(rules.name, create(rules.name, values))[name] in (None, admin.user_id)
    elif isinstance(column.type, JsonText):
        assert not stored(rules.name, create(rules.name, values))[name]
    else:
        assert problem_fields(rules, values) >= {rules.wire(name)} or rules.name == "Lead"


@pytest.mark.requirement("SEC-64")
@pytest.mark.parametrize(
    "field",
    [
        (rules, name)
        for rules, name in FIELDS
        if isinstance(rules.table.c[name].type, String | Text)
        and not rules.table.c[name].info.keys() & {"allowed", "format"}
        and name not in ("series", "disqualify_notes", "lost_notes", "unit_code")
    ],
    ids=ids,
)
def test_text_is_kept_to_the_character(
    admin: Caller, valid: dict[str, dict[str, Any]], field: tuple[EntityRules, str]
) -> None:
    rules, name = field
    column = rules.table.c[name]
    length = column.info.get("maximum_length") or column.type.length
    longest = ("ä" * length)[:length]
    for text in (*(text[:length] for text in GOOD_TEXTS.values()), longest):
        key = create(rules.name, valid[rules.name] | {name: text})
        assert stored(rules.name, key)[name] == text
    too_long = problem_fields(rules, valid[rules.name] | {name: longest + "x"})
    assert too_long == {rules.wire(name)}


@pytest.mark.parametrize("rules", [service.rules for service in SERVICES.values()],
                         ids=lambda rules: rules.name)  # fmt: skip
def test_every_problem_is_listed_at_once(admin: Caller, rules: EntityRules) -> None:
    values: dict[str, Any] = dict.fromkeys(rules.all_writable, object())
    fields = problem_fields(rules, values | {"no_such_thing": 1})
    assert fields >= {rules.wire(name) for name in rules.all_writable} | {"noSuchThing"}


@pytest.mark.parametrize("rules", [service.rules for service in SERVICES.values()],
                         ids=lambda rules: rules.name)  # fmt: skip
def test_what_is_required_is_asked_for(admin: Caller, rules: EntityRules) -> None:
    required = {rules.wire(name) for name in rules.required}
    if rules.name == "Lead":
        required = {"lastName"}
    assert required
    assert problem_fields(rules, {}) == required


# A space of no width, a joiner beside a space, a mark of direction, a control.
UNSEEN = ("   ", "", "\n", "\u200b", "\u2060 ", "\u200f", "\x07")


@pytest.mark.parametrize("text", UNSEEN)
def test_a_text_of_which_nothing_is_seen_is_null_or_refused(admin: Caller, text: str) -> None:
    key = create("Client", {"name": "A", "legal_name": text, "email": text, "notes": text})
    row = stored("Client", key)
    assert (row["legal_name"], row["email"], row["notes"]) == (None, None, None)
    with pytest.raises(ValidationError) as caught:
        create("Client", {"name": text})
    assert [detail.field for detail in caught.value.details] == ["name"]


def test_what_joins_letters_is_kept(admin: Caller) -> None:
    name = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f468\u200d\U0001f469"
    assert stored("Client", create("Client", {"name": name}))["name"] == name


@pytest.mark.requirement("SEC-46")
def test_read_only_attributes_are_ignored(admin: Caller) -> None:
    key = create("Client", {"name": "A", "number": "C-9", "id": 77, "version": 5})
    row = stored("Client", key)
    assert (row["number"], row["version"]) == ("C-000001", 1)
    assert key != 77


def test_typed_and_json_forms_of_a_value_are_the_same(admin: Caller) -> None:
    typed = create("Project", {"name": "A", "start_date": date(2026, 1, 31), "budget_amount": 5})
    texts = create(
        "Project", {"name": "A", "start_date": "2026-01-31", "budget_amount": Decimal("5.00")}
    )
    for name in ("start_date", "budget_amount"):
        assert stored("Project", typed)[name] == stored("Project", texts)[name]
