"""Changes are told to whoever could read the row at some time since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.clock import utc_now
from app.container.common import RowChanges
from app.db import records
from app.http.security import Caller
from app.models.client import Client
from tests import factories

CLIENTS = RowChanges("Client", Client.__table__, "clients")


def owner(of: Caller) -> Caller:
    """Somebody who may read clients of their own."""
    user_id = factories.make_user().user_id
    return replace(of, rights={"clients:read": "own"}, user_id=user_id)


def test_the_owner_before_a_change_is_told_of_it_and_others_are_not(admin: Caller) -> None:
    before, after, stranger = owner(admin), owner(admin), owner(admin)
    client = factories.make_client(owner_id=before.user_id)
    since = utc_now() - timedelta(seconds=1)
    factories.update("Client", client, owner_id=after.user_id)
    connection = records.connection()
    told = [
        bool(CLIENTS.known(connection, caller, [client], since))
        for caller in (before, after, stranger, admin)
    ]
    assert told == [True, True, False, True]
    later = utc_now() + timedelta(seconds=1)
    assert not CLIENTS.known(connection, before, [client], later)


def test_a_row_is_changed_or_removed_after_an_instant(admin: Caller) -> None:
    client = factories.make_client()
    connection, past = records.connection(), utc_now() - timedelta(minutes=1)
    ahead = utc_now() + timedelta(minutes=1)
    assert [row.id for row in connection.execute(CLIENTS.changed(past))] == [client]
    assert not connection.execute(CLIENTS.changed(ahead)).all()
    factories.SERVICES["Client"].delete(client)
    assert connection.execute(CLIENTS.removed(past)).scalars().all() == [client]
    assert not connection.execute(CLIENTS.removed(ahead)).all()
