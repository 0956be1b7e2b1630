"""What an account may right now, read outside of its requests: for jobs and webhooks."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine

from app.auth.api_keys import create_api_key, revoke_api_key
from app.auth.rights import callers_of, is_administrator
from app.clock import utc_now
from app.db import records
from app.http.security import Caller, make_caller
from app.models.user import ApiKey, Role, User, UserRole
from app.permissions import NEVER_BY_KEY, PERMISSIONS, ROLES
from tests.business import admin
from tests.factories import make_user, put_row, rows

__all__ = ["admin"]


def callers(*user_ids: int) -> dict[int, Caller]:
    return callers_of(records.connection(), user_ids)


def service(role: str, *scopes: str) -> tuple[int, int]:
    """The account and the key of a program."""
    made = create_api_key(name="ERP", role=role, scopes=scopes)
    (row,) = rows(ApiKey, id=made.id)
    return row["user_id"], made.id


def add_role(user_id: int, role: str) -> None:
    (row,) = rows(Role, name=role)
    records.insert(UserRole.__table__, {"user_id": user_id, "role_id": row["id"]})


def test_people_have_what_all_their_roles_give(admin: Caller) -> None:
    sales, support = make_user("Sales"), make_user("Support")
    add_role(support.user_id, "Accountant")
    found = callers(sales.user_id, support.user_id, sales.user_id)
    assert found.keys() == {sales.user_id, support.user_id}
    assert found[sales.user_id] == sales
    assert dict(found[sales.user_id].rights) == dict(ROLES["Sales"])
    both = found[support.user_id]
    assert (both.username, both.via) == (support.username, "jwt")
    assert set(both.roles) == {"Support", "Accountant"}
    assert both.rights.keys() == ROLES["Support"].keys() | ROLES["Accountant"].keys()
    assert callers() == callers(987_654) == {}


def test_who_has_no_role_may_nothing(admin: Caller) -> None:
    nobody = make_user("Viewer")
    records.connection().execute(
        UserRole.__table__.delete().where(UserRole.user_id == nobody.user_id)
    )
    assert dict(callers(nobody.user_id)[nobody.user_id].rights) == {}


def test_a_program_has_the_rights_of_its_key_narrowed_by_its_scopes(admin: Caller) -> None:
    whole, key = service("Manager")
    narrow, _ = service("Manager", "clients:read")
    found = callers(whole, narrow)
    assert (found[whole].via, found[whole].principal) == ("apiKey", f"key:{key}")
    assert dict(found[whole].rights) == {
        name: scope for name, scope in ROLES["Manager"].items() if name not in NEVER_BY_KEY
    }
    assert found[narrow].rights.keys() == {"clients:read", "directory:read"}
    assert dict(found[narrow].role_rights) == dict(ROLES["Manager"])


def test_who_may_not_sign_in_is_left_out(admin: Caller) -> None:
    disabled = make_user("Admin", status="disabled")
    revoked, key = service("Viewer")
    revoke_api_key(key)
    asleep, _ = service("Viewer")
    put_row(User, asleep, status="disabled")
    assert callers(disabled.user_id, revoked, asleep) == {}


def test_a_key_ends_with_its_time(admin: Caller) -> None:
    made = create_api_key(name="ERP", role="Viewer", expires_at=utc_now() + timedelta(hours=1))
    (row,) = rows(ApiKey, id=made.id)
    assert callers(row["user_id"])
    with time_machine.travel(utc_now() + timedelta(hours=1), tick=False):
        assert not callers(row["user_id"])


@pytest.mark.only_on("sqlite")
def test_an_administrator_is_one_by_role_and_whole_rights(admin: Caller) -> None:
    whole, _ = service("Admin")
    narrow, _ = service("Admin", "clients:read")
    found = callers(admin.user_id, whole, narrow)
    assert [is_administrator(found[key]) for key in (admin.user_id, whole, narrow)] == [
        True, True, False,
    ]  # fmt: skip
    everything = dict.fromkeys(PERMISSIONS, "all")
    assert not is_administrator(make_caller(1, "a", "jwt", everything, roles=("Deputy",)))
