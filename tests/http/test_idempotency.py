"""Idempotency-Key: one effect and one answer, however often a POST is sent (contract P13)."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask, Response, request
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.db import records
from app.errors import InvalidStateError
from app.http import idempotency
from app.http.body_stream import BodyStream, note_fingerprint
from app.http.multipart import read_form
from app.http.security import streamed
from app.models.event import AuditRecord, IdempotencyRecord
from app.models.user import Role
from tests.conftest import KeepApp
from tests.contract.conftest import PASSWORD, Api

SignIn = Callable[..., Api]
ROLE = {"name": "Auditor", "permissions": {"audit:read": "all"}}


def roles(session: Session) -> int:
    statement = select(func.count()).select_from(Role).where(~Role.is_builtin)
    return int(session.execute(statement).scalar_one())


def post(api: Api, key: str, body: Any = ROLE, path: str = "/api/admin/roles") -> Any:
    return api.post(path, body, headers={"Idempotency-Key": key})


def test_the_first_answer_is_repeated_and_there_is_one_effect(admin: Api, session: Session) -> None:
    first, second = post(admin, "k1"), post(admin, "k1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.data == second.data
    assert first.headers["Location"] == second.headers["Location"]
    assert first.headers["Content-Type"] == second.headers["Content-Type"]
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert first.headers["X-Request-ID"] != second.headers["X-Request-ID"]
    assert roles(session) == 1


def test_a_key_of_what_is_no_operation_means_nothing(admin: Api, session: Session) -> None:
    for _ in range(2):
        made = admin.post("/odata/Clients", {"name": "A"}, headers={"Idempotency-Key": "k1"})
        assert made.status_code == 201 and "Idempotency-Replayed" not in made.headers
        read = admin.get("/api/admin/roles", headers={"Idempotency-Key": "k1"})
        assert read.status_code == 200 and "Idempotency-Replayed" not in read.headers
    assert post(admin, "k1").status_code == 201


def test_an_answer_that_another_key_sealed_is_not_repeated(
    admin: Api, keep_app: KeepApp, session: Session
) -> None:
    assert post(admin, "k1").status_code == 201
    other = keep_app(SECRET_KEY="another secret of the next year, long").test_client()
    form = {"username": "admin", "password": PASSWORD}
    token = other.post("/api/auth/login", json=form).json["accessToken"]
    again = post(Api(other, {"Authorization": f"Bearer {token}"}), "k1")
    assert (again.status_code, again.json["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    assert "cannot be read any more: use a new key" in again.json["error"]["message"]
    assert roles(session) == 1


def test_both_spellings_of_the_address_are_the_same_request(admin: Api, session: Session) -> None:
    post(admin, "k1")
    again = post(admin, "k1", path="/api/v1/admin/roles")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert roles(session) == 1


@pytest.mark.requirement("RACE-07")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({**ROLE, "name": "Other"}, "/api/admin/roles"),
        (ROLE, "/api/admin/users"),
        (ROLE, "/api/admin/roles?x=1"),
    ],
)
def test_another_request_with_the_same_key_is_refused(
    admin: Api, session: Session, body: Any, path: str
) -> None:
    post(admin, "k1")
    answer = post(admin, "k1", body, path)
    assert (answer.status_code, answer.json["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    assert roles(session) == 1


def test_keys_belong_to_their_caller(admin: Api, sign_in: SignIn, session: Session) -> None:
    post(admin, "k1")
    other = sign_in("Manager")
    assert post(other, "k1").status_code == 403


@pytest.mark.parametrize("key", ["", " ", "k" * 256, "ü", "a b", "a\x7f"])
def test_a_key_has_1_to_255_visible_characters(admin: Api, session: Session, key: str) -> None:
    answer = post(admin, key)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert roles(session) == 0


def test_what_was_refused_may_be_corrected_and_sent_again(admin: Api, session: Session) -> None:
    assert post(admin, "k1", {"name": "Auditor"}).status_code == 400
    assert post(admin, "k1").status_code == 201
    assert roles(session) == 1


def test_a_refusal_of_the_operation_itself_is_repeated(admin: Api, session: Session) -> None:
    post(admin, "k1")
    taken = post(admin, "k2")
    assert (taken.status_code, taken.json["error"]["code"]) == (409, "DUPLICATE")
    again = post(admin, "k2")
    assert (again.data, again.headers["Idempotency-Replayed"]) == (taken.data, "true")
    of_each = {"X-Request-ID", "Date", "RateLimit-Remaining", "RateLimit-Reset"}
    first, second = (dict(answer.headers) for answer in (taken, again))
    assert {name for name in first if second.get(name) != first[name]} <= of_each


def test_after_a_day_the_key_is_free(admin: Api, session: Session) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    body = {"name": "ERP", "role": "Viewer"}
    with time_machine.travel(now, tick=False):
        headers = admin.client.post(
            "/api/auth/login",
            json={"username": "admin", "password": "correct horse battery staple"},
        ).json
        admin.headers = {"Authorization": f"Bearer {headers['accessToken']}"}
        first = post(admin, "k1", body, "/api/admin/api-keys")
    with time_machine.travel(now + timedelta(hours=23, minutes=59), tick=False):
        admin.headers = fresh(admin)
        again = post(admin, "k1", body, "/api/admin/api-keys")
        assert again.json == first.json
    with time_machine.travel(now + timedelta(hours=24), tick=False):
        admin.headers = fresh(admin)
        later = post(admin, "k1", body, "/api/admin/api-keys")
        assert later.json["id"] != first.json["id"]
        again = post(admin, "k1", body, "/api/admin/api-keys")
        assert again.json == later.json


def fresh(api: Api) -> dict[str, str]:
    body = {"username": "admin", "password": "correct horse battery staple"}
    token = api.client.post("/api/auth/login", json=body).json["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def test_secrets_in_a_stored_answer_are_sealed(admin: Api, session: Session) -> None:
    body = {"name": "ERP", "role": "Viewer"}
    made = post(admin, "k1", body, "/api/admin/api-keys").json
    stored = session.connection().execute(select(IdempotencyRecord)).one()
    assert made["key"] not in str(stored.body)
    assert made["prefix"] not in str(stored.body)
    assert post(admin, "k1", body, "/api/admin/api-keys").json == made


def test_logins_are_not_stored(admin: Api, session: Session) -> None:
    body = {"username": "admin", "password": "correct horse battery staple"}
    tokens = {post(admin, "k1", body, "/api/auth/login").json["accessToken"] for _ in range(2)}
    assert len(tokens) == 2
    assert session.connection().execute(select(IdempotencyRecord)).all() == []


@pytest.fixture
def slow(keep_app: KeepApp, sign_in: SignIn) -> tuple[list[Flask], Api]:
    """Three processes with views for what no area does."""
    apps = [keep_app(_add_views, number) for number in range(3)]
    return apps, sign_in("Viewer", apps[0])


def _add_views(app: Flask) -> None:
    app.add_url_rule("/api/x/write", view_func=write, methods=["POST"])
    app.add_url_rule("/api/x/conflict", view_func=once_only, methods=["POST"])
    app.add_url_rule("/api/x/fail", view_func=write_and_fail, methods=["POST"])
    app.add_url_rule("/api/x/stream", view_func=stream, methods=["POST"])
    app.add_url_rule("/api/x/upload", view_func=upload, methods=["POST"])


def insert(action: str) -> None:
    records.insert(
        AuditRecord.__table__, {"created_at": utc_now(), "via": "test", "action": action}
    )


def effects(session: Session, action: str = "effect") -> int:
    statement = select(func.count()).select_from(AuditRecord).where(AuditRecord.action == action)
    return int(session.execute(statement).scalar_one())


def write() -> dict[str, Any]:
    insert("effect")
    return {"at": utc_now()}


def once_only() -> dict[str, Any]:
    """Like a payment: done once, the second finds nothing left to do."""
    connection = records.connection()
    role = Role.__table__
    statement = role.update().where(role.c.name == "Viewer", role.c.description.is_(None))
    if not connection.execute(statement.values(description="done")).rowcount:
        raise InvalidStateError("It was done before.")
    insert("effect")
    return {"done": True}


def write_and_fail() -> dict[str, Any]:
    insert("effect")
    raise ZeroDivisionError


def stream() -> Response:
    insert("effect")
    return Response(iter([b"a", b"b"]))


@streamed
def upload() -> dict[str, Any]:
    insert("effect")
    form = read_form(BodyStream(1000), request.mimetype, request.mimetype_params)
    answer = {part.name: [part.file_name, part.text()] for part in form.parts()}
    note_fingerprint(form.fingerprint)
    return answer


@pytest.mark.requirement("RACE-06")
@pytest.mark.parametrize("path", ["/api/x/write", "/api/x/conflict"])
def test_twenty_twins_in_three_processes_have_one_effect_and_one_answer(
    slow: tuple[list[Flask], Api], session: Session, path: str
) -> None:
    apps, api = slow
    headers = {**api.headers, "Idempotency-Key": "k1"}
    try:
        with ThreadPoolExecutor(20) as pool:
            answers = list(
                pool.map(
                    lambda number: apps[number % 3].test_client().post(path, headers=headers),
                    range(20),
                )
            )
        done = Counter(answer.status_code for answer in answers)
        assert set(done) <= {200, 409}
        bodies = {answer.data for answer in answers if answer.status_code == 200}
        assert len(bodies) == 1
        assert done[200] >= 15
        replayed = [answer for answer in answers if "Idempotency-Replayed" in answer.headers]
        assert done[200] - len(replayed) == 1
        assert effects(session) == 1
    finally:
        with apps[0].app_context(), records.db.engine.begin() as connection:
            role = Role.__table__
            connection.execute(role.update().values(description=None))


def test_a_failure_on_our_side_leaves_neither_effect_nor_record(
    slow: tuple[list[Flask], Api], session: Session
) -> None:
    _, api = slow
    assert post(api, "k1", None, "/api/x/fail").status_code == 500
    assert effects(session) == 0
    assert session.connection().execute(select(IdempotencyRecord)).all() == []
    assert post(api, "k1", None, "/api/x/fail").status_code == 500


@pytest.mark.requirement("DUR-06")
def test_a_kill_between_effect_and_answer_leaves_neither(
    slow: tuple[list[Flask], Api], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, api = slow

    class Killed(BaseException):
        pass

    def die(response: Response) -> Response:
        raise Killed

    monkeypatch.setattr("app.http.idempotency.is_kept", die)
    with pytest.raises(Killed):
        post(api, "k1", None, "/api/x/write")
    monkeypatch.undo()
    assert effects(session) == 0
    assert post(api, "k1", None, "/api/x/write").status_code == 200
    assert effects(session) == 1


def test_a_stream_is_not_stored(slow: tuple[list[Flask], Api], session: Session) -> None:
    _, api = slow
    for _ in range(2):
        assert post(api, "k1", None, "/api/x/stream").data == b"ab"
    assert effects(session) == 2


def test_an_upload_is_the_same_whatever_its_boundary(
    slow: tuple[list[Flask], Api], session: Session
) -> None:
    _, api = slow

    def send(content: bytes, name: str = "a.txt", note: str = "x") -> Any:
        data = {"file": (io.BytesIO(content), name), "note": note}
        headers = {**api.headers, "Idempotency-Key": "k1"}
        return api.client.post("/api/x/upload", data=data, headers=headers)

    first, again = send(b"content"), send(b"content")
    assert first.json == again.json == {"file": ["a.txt", "content"], "note": [None, "x"]}
    assert again.headers["Idempotency-Replayed"] == "true"
    for other in (send(b"Content"), send(b"content", "b.txt"), send(b"content", note="y")):
        assert other.status_code == 409
    assert effects(session) == 1


def test_a_twin_that_runs_too_long_is_told_so(
    slow: tuple[list[Flask], Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    apps, api = slow
    monkeypatch.setattr(idempotency, "WAIT_SECONDS", 0.05)
    running = idempotency.idempotency.of(apps[0])
    with apps[0].app_context():
        principal = f"user:{api.get('/api/auth/me').json['id']}"
    running.claim((principal, "k1"))
    answer = post(api, "k1", None, "/api/x/write")
    assert (answer.status_code, answer.headers["Retry-After"]) == (409, "1")
    assert answer.json["error"]["code"] == "IDEMPOTENCY_CONFLICT"
