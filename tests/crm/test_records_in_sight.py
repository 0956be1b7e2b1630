"""What a write tells of a record is what is read of it then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask

from app.errors import DuplicateError, ValidationError
from app.events import represent
from app.http.security import Caller
from app.models.client import Client
from app.models.event import Event
from app.odata.service import ODataService, odata_service
from app.writing.services import SERVICES
from tests.factories import MAKERS, make_client, rows, stored, update

CLIENTS: Any = Client.__table__


@pytest.fixture
def service(app: Flask) -> ODataService:
    bound: ODataService = odata_service.of(app)
    return bound


def told(key: int, entity: str = "Client") -> dict[str, Any]:
    """What the last event of a record shows."""
    *_, last = rows(Event, entity=entity, entity_id=key)
    payload: dict[str, Any] = last["payload"]
    return payload["object"]


def test_rows_of_services_are_rows_of_their_entities(service: ODataService) -> None:
    for name, of_entity in SERVICES.items():
        assert of_entity.rules.table is service.container.types[name].table


CHANGES: Mapping[str, Mapping[str, Any]] = {
    "Contact": {"first_name": "Ann", "job_title": "CEO"},
    "Lead": {"first_name": "Ann", "last_name": "B", "status": "Contacted"},
    "Opportunity": {"amount": Decimal("7.5"), "stage": "Qualification"},
    "Ticket": {"subject": "Other", "priority": "Urgent"},
    "KbArticle": {"title": "Other"},
    "Task": {"status": "Done", "due_at": datetime(2020, 1, 1, tzinfo=UTC)},
    "Project": {"name": "Other", "end_date": date(2020, 1, 1), "start_date": date(2019, 1, 1)},
    "Invoice": {"notes": "Other"},
    "Product": {"unit_price": Decimal("7.5"), "sku": "A-1"},
}


@pytest.mark.parametrize("entity", CHANGES)
def test_every_event_shows_the_record_as_it_is_then(admin: Caller, entity: str) -> None:
    """Whatever the area writes behind the row."""
    key = MAKERS[entity]()
    assert told(key, entity) == json.loads(represent(entity, key))
    update(entity, key, **CHANGES[entity])
    assert told(key, entity) == json.loads(represent(entity, key))
    assert stored(entity, key)["version"] > 1


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
