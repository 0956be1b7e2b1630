"""What a write tells of a record without reading it is what the database would tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection

from app import records
from app.clock import utc_now
from app.errors import DuplicateError, ValidationError
from app.events import represent
from app.models.client import Client
from app.models.event import Event
from app.odata.reading.representation import Representations
from app.odata.reading.row_json import RowJson
from app.odata.service import ODataService
from app.security import Caller
from app.services import SERVICES
from tests.factories import MAKERS, make_client, put, rows, stored, update

CLIENTS: Any = Client.__table__
ALL_ASCII = "".join(map(chr, range(1, 128)))
PARTS = {"street": "A 1", "city": "Ulm", "state": None, "postal_code": "89073", "country": "DE"}
VALUES: list[Mapping[str, Any]] = [
    {},
    {"name": ALL_ASCII, "notes": "\x1b\x7f\u2028\u00e9\u0142\U0001f600 \"\\/\b\f\n\r\t"},
    {"revenue": Decimal("0.1"), "credit_limit": Decimal("1E+3"), "employee_count": 0},
    {"revenue": Decimal("9999999999999.99"), "credit_limit": Decimal("0.00")},
    {"credit_balance": Decimal("-12.5"), "outstanding_balance": Decimal("-0.00")},
    {f"billing_{part}": value for part, value in PARTS.items()},
    {"shipping_country": "FR", "do_not_contact": True},
    {"tags": ["a", "\"b\"", "\u00fc"], "custom_fields": {"k": None, "l": [1, {"m": True}]}},
    {"custom_fields": {"price": Decimal("1.10"), "far": 2**63}, "tags": []},
    {"last_activity_at": datetime(2024, 2, 29, 23, 59, 59, 999000, UTC)},
    {"last_activity_at": datetime(1, 1, 1, tzinfo=UTC), "external_id": "x" * 100},
]  # fmt: skip


@pytest.fixture
def service(app: Flask) -> ODataService:
    found: ODataService = app.extensions["odata"]
    return found


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """An entity type for each record that a write has read for its events."""
    asked: list[str] = []
    original = Representations.read

    def note(self: Representations, entity: str, key: Any, connection: Connection) -> Any:
        asked.append(entity)
        return original(self, entity, key, connection)

    monkeypatch.setattr(Representations, "read", note)
    return asked


def told(key: int, entity: str = "Client") -> dict[str, Any]:
    """What the last event of a record shows."""
    *_, last = rows(Event, entity=entity, entity_id=key)
    payload: dict[str, Any] = last["payload"]
    return payload["object"]


@pytest.mark.parametrize("values", VALUES, ids=range(len(VALUES)))
def test_a_row_is_written_as_the_database_writes_it(
    admin: Caller, service: ODataService, values: Mapping[str, Any]
) -> None:
    json_of = RowJson.of(service.container.types["Client"])
    assert json_of is not None
    key = make_client()
    records.update(CLIENTS, key, values or {"version": 1})
    assert json_of.write({**stored("Client", key), **values}) == represent("Client", key)
    assert json_of.version(stored("Client", key)) == 1


def test_a_float_and_a_finer_instant_are_left_to_the_database(
    admin: Caller, service: ODataService
) -> None:
    json_of = RowJson.of(service.container.types["Client"])
    assert json_of is not None
    row = stored("Client", make_client())
    assert json_of.write(row) is not None
    for name, value in (
        ("custom_fields", {"a": 1.0}),
        ("custom_fields", [{"b": [0.0]}]),
        ("last_activity_at", datetime(2024, 1, 1, 0, 0, 0, 1, UTC)),
        ("name", b"bytes"),
        ("employee_count", True),
        ("do_not_contact", 1),
    ):
        assert json_of.write({**row, name: value}) is None, (name, value)


def test_rows_of_services_are_rows_of_their_entities(service: ODataService) -> None:
    for name, of_entity in SERVICES.items():
        assert of_entity.rules.table is service.container.types[name].table


def test_types_that_only_the_database_knows_are_left_to_it(service: ODataService) -> None:
    of = {name: RowJson.of(type_) is not None for name, type_ in service.container.types.items()}
    shown = ("Client", "Contact", "Lead", "Opportunity", "Ticket", "KbArticle", "Task", "Project")
    assert all(of[name] for name in shown)
    # A state that depends on what is issued, a file.
    assert not any(of[name] for name in ("Invoice", "Document"))


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "Contact": {"first_name": "Ann", "job_title": "CEO"},
    "Lead": {"first_name": "Ann", "last_name": "B", "status": "Contacted"},
    "Opportunity": {"amount": Decimal("7.5"), "stage": "Qualification"},
    "Ticket": {"subject": "Other", "priority": "Urgent"},
    "KbArticle": {"title": "Other"},
    "Task": {"status": "Done", "due_at": datetime(2020, 1, 1, tzinfo=UTC)},
    "Project": {"name": "Other", "end_date": date(2020, 1, 1), "start_date": date(2019, 1, 1)},
    "Invoice": {"notes": "Other"},
}


@pytest.mark.parametrize("entity", CHANGES)
def test_every_event_shows_the_record_as_it_is_then(admin: Caller, entity: str) -> None:
    """Whatever the area writes behind the row."""
    key = MAKERS[entity]()
    assert told(key, entity) == json.loads(represent(entity, key))
    update(entity, key, **CHANGES[entity])
    assert told(key, entity) == json.loads(represent(entity, key))
    assert stored(entity, key)["version"] > 1


@pytest.mark.parametrize("days", [0, 1, 400])
def test_what_is_computed_is_computed_alike(
    admin: Caller, service: ODataService, days: int
) -> None:
    then = utc_now() - timedelta(days=days, seconds=5)
    rows = {
        "Task": {"due_at": then}, "Project": {"end_date": then.date(), "start_date": None},
        "Opportunity": {"stage_changed_at": then}, "Lead": {"first_name": "Ann"},
        "Contact": {"first_name": "Ann"},
    }  # fmt: skip
    for entity, values in rows.items():
        json_of = RowJson.of(service.container.types[entity])
        assert json_of is not None
        key = MAKERS[entity]()
        put(entity, key, **values)
        assert json_of.write(stored(entity, key)) == represent(entity, key)


@pytest.mark.only_on("postgresql")
def test_a_new_record_and_its_change_are_not_read_on_postgresql(
    admin: Caller, read: list[str]
) -> None:
    key = make_client(revenue=Decimal("12.5"), tags=["a"], billing_city="Ulm")
    assert told(key) == json.loads(represent("Client", key))
    read.clear()
    update("Client", key, email="a@b.example", billing_city=None, credit_limit=Decimal("7"))
    assert read == []
    assert told(key) == json.loads(represent("Client", key))
    assert told(key)["creditLimit"] == 7
    assert told(key)["billingAddress"] is None


@pytest.mark.only_on("sqlite")
def test_sqlite_reads_them(admin: Caller, read: list[str]) -> None:
    update("Client", make_client(), email="a@b.example")
    assert read == ["Client", "Client"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"external_id": "taken"}, DuplicateError),
        ({"owner_id": 10**9}, ValidationError),
    ],
)
def test_a_refusal_of_the_database_still_names_its_field(
    admin: Caller, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], error: type[Exception]
) -> None:
    """As in a race, where what the rules have found is no longer so."""
    make_client(external_id="taken")
    key = make_client()
    monkeypatch.setattr("app.writing.pipeline.check_references", lambda change: None)
    with pytest.raises(error):
        update("Client", key, **changes)


def test_what_only_the_database_can_refuse_is_known() -> None:
    found = {name: records.refusable(service.rules.table) for name, service in SERVICES.items()}
    assert {"external_id", "number", "owner_id"} <= found["Client"]
    assert not found["Client"] & {"email", "revenue", "status", "version", "updated_at"}
    assert {"last_name", "company"} <= found["Lead"]
    assert {"client_id", "is_primary"} & found["Contact"] == {"client_id"}
