"""Events are kept for thirty days, and longer while somebody is still owed them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db.engines import transaction
from app.jobs.schedule import EVENTS_KEPT, remove_expired
from app.models.event import Event
from app.models.webhook import WebhookAttempt, WebhookDelivery
from tests.contract.conftest import Api
from tests.receivers import Receiver
from tests.webhooks.conftest import Run, make_client, register, when_all
from tests.webhooks.test_journal import number_all


def grow_old(app: Flask, *keep: int) -> None:
    """Events become older than they are kept; those of the clients in ``keep`` stay young."""
    long_ago = utc_now() - EVENTS_KEPT - timedelta(hours=1)
    with app.app_context(), transaction() as writing:
        writing.execute(
            update(Event).where(Event.entity_id.not_in(keep)).values(created_at=long_ago)
        )


@pytest.mark.requirement("OPS-11")
def test_old_events_go_with_their_deliveries(
    near: Flask, api: Api, there: Receiver, work: Run, session: Session
) -> None:
    webhook = register(api, there.url(), "client.created")
    with work(near):
        old, young = make_client(api), make_client(api)
        when_all(api, webhook, "succeeded", 2)
    grow_old(near, young)
    with near.app_context():
        assert remove_expired() > 0
    kept = session.scalars(select(Event.entity_id).where(Event.type == "client.created")).all()
    assert kept == [young] != [old]
    for model in (WebhookDelivery, WebhookAttempt):
        assert session.scalar(select(func.count()).select_from(model)) == 1


def test_events_that_somebody_is_still_owed_stay(app: Flask, admin: Api, session: Session) -> None:
    admin.post("/api/webhooks", {"url": "https://example.com/", "events": ["client.created"]})
    make_client(admin)
    grow_old(app)
    with app.app_context():
        assert remove_expired() == 0  # not even looked at yet
    number_all(app)
    with app.app_context():
        remove_expired()
    assert session.scalars(select(Event.type)).all() == ["client.created"]
    with app.app_context(), transaction() as writing:
        writing.execute(delete(WebhookDelivery))
    with app.app_context():
        assert remove_expired() == 1
