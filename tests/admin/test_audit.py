"""The audit log as administrators read it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.clock import utc_now
from app.db.types import iso_instant
from tests.contract.conftest import Api

SignIn = Callable[..., Api]


def test_the_latest_is_first_and_filters_narrow(admin: Api, sign_in: SignIn) -> None:
    sign_in("Viewer")
    me = admin.get("/api/auth/me").json["id"]
    listed = admin.get("/api/admin/audit").json
    actions = [item["action"] for item in listed["items"]]
    assert actions == ["auth.login", "user.created", "auth.login", "user.created"]
    assert listed["items"][0].keys() == {
        "id", "createdAt", "actorId", "via", "action", "entity", "entityId", "before", "after",
        "ip", "requestId",
    }  # fmt: skip

    def count(query: str) -> int:
        return int(admin.get(f"/api/admin/audit?{query}").json["total"])

    now = iso_instant(utc_now())
    assert count("action=auth.login") == 2
    assert count("action=auth.*") == 2
    assert count("action=auth.%25") == 0
    assert count("entity=User") == 4
    assert count(f"entity=User&entityId={me}") == 2
    assert count(f"actorId={me}") == 1
    assert count("from=2020-01-01T00:00:00Z") == 4
    assert count("to=2020-01-01T00:00:00Z") == 0
    assert count(f"from={now}") + count(f"to={now}") == 4
    page = admin.get("/api/admin/audit?limit=1&offset=1").json
    assert [item["action"] for item in page["items"]] == ["user.created"]


@pytest.mark.parametrize(
    "query", ["from=yesterday", "entityId=-1", "entityId=9223372036854775808", "action=", "x=1"]
)
def test_bad_parameters_are_named(admin: Api, query: str) -> None:
    answer = admin.get(f"/api/admin/audit?{query}")
    assert answer.status_code == 400
    assert answer.json["error"]["details"][0]["field"] == query.partition("=")[0]


def test_changes_show_what_was_and_what_is(admin: Api, sign_in: SignIn) -> None:
    user_id = sign_in("Viewer").get("/api/auth/me").json["id"]
    admin.patch(f"/api/admin/users/{user_id}", {"displayName": "V.", "roles": ["Sales"]})
    (row,) = admin.get("/api/admin/audit?action=user.updated").json["items"]
    assert row["before"] == {"displayName": "Viewer", "roles": ["Viewer"]}
    assert row["after"] == {"displayName": "V.", "roles": ["Sales"]}
    assert row["actorId"] == admin.get("/api/auth/me").json["id"]
    assert row["requestId"]
