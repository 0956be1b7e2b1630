"""A right that has ended is not used once more, though the request asks for it late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Connection, text, update
from sqlalchemy.exc import OperationalError

from app.auth.epoch import DatabaseEpoch, SqliteEpoch, bump_epoch
from app.database import primary_engine, read_engine, transaction
from app.engines import direct
from app.engines.premise import Premise, PremiseError, premise
from app.extensions import db
from app.limits.limiter import Limiter
from app.limits.rate import Verdict
from app.models.user import Role, Session, UserRole
from app.odata.service import ODataService
from app.security import Caller
from app.shared_commit import Batch
from app.statements import execute, execute_later, fetch_all
from tests.contract.conftest import Api

ONLY_POSTGRESQL = pytest.mark.only_on("postgresql")
CHANGE = "UPDATE security_epochs SET value = -5"
ROLES: Any = Role.__table__
GIVEN: Any = UserRole.__table__
SESSIONS: Any = Session.__table__


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert not premise.is_open
    assert not premise.is_wrong


@pytest.fixture
def asked_apart(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An entry for each time that the epoch is asked for by itself."""
    times: list[int] = []
    current = DatabaseEpoch.current

    def note(self: DatabaseEpoch) -> int:
        times.append(1)
        return current(self)

    monkeypatch.setattr(DatabaseEpoch, "current", note)
    return times


def end_sessions(app: Flask) -> None:
    """As another process does it: nothing of this one hears of it."""
    with app.app_context(), transaction() as running:
        running.execute(update(SESSIONS).values(revoked_at=text("created_at")))
        bump_epoch()


def give(app: Flask, role: str) -> None:
    """Let all users have ``role`` and no other."""
    with app.app_context(), transaction() as running:
        found = running.execute(ROLES.select().where(ROLES.c.name == role)).one()
        running.execute(update(GIVEN).values(role_id=found.id))
        bump_epoch()


def names(app: Flask) -> list[str]:
    with app.app_context(), read_engine().connect() as connection:
        return list(connection.execute(text("SELECT name FROM clients ORDER BY id")).scalars())


# --- over HTTP, on both databases ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "Clients(1)", None), ("GET", "Clients?$filter=name eq 'A'", None),
        ("GET", "Clients/$count", None), ("GET", "Clients(999)", None), ("GET", "$metadata", None),
        ("GET", "Nothing", None), ("GET", "Clients?$filter=(", None), ("GET", "Me", None),
        ("POST", "Clients", {"name": "B"}), ("POST", "Clients", {"name": ""}),
        ("POST", "Clients", {"name": "B", "externalId": "a"}),
        ("PATCH", "Clients(1)", {"name": "B"}), ("PATCH", "Clients(999)", {"name": "B"}),
        ("PATCH", "Clients(1)", {"name": "A"}), ("PUT", "Clients(1)", {"name": "B"}),
        ("DELETE", "Clients(1)", None), ("DELETE", "Clients(999)", None),
    ],
)  # fmt: skip
def test_an_ended_session_gets_nothing_and_does_nothing(
    app: Flask, admin: Api, method: str, path: str, body: Any
) -> None:
    made = admin.post("/odata/Clients", {"name": "A", "externalId": "a"})
    path = path.replace("Clients(1)", f"Clients({made.json['id']})")
    end_sessions(app)
    answer = admin._send(method, f"/odata/{path}", json=body)
    assert answer.status_code == 401, answer.text
    assert answer.json["error"]["code"] == "TOKEN_REVOKED"
    assert names(app) == ["A"]
    again = admin._send(method, f"/odata/{path}", json=body)
    assert again.status_code == 401


def test_the_rights_are_those_of_now(app: Flask, admin: Api) -> None:
    made = admin.post("/odata/Clients", {"name": "A"}).json["id"]
    give(app, "Viewer")
    refused = admin.patch(f"/odata/Clients({made})", {"name": "B"})
    assert refused.status_code == 403
    assert admin.get(f"/odata/Clients({made})").json["name"] == "A"
    give(app, "Admin")
    assert admin.patch(f"/odata/Clients({made})", {"name": "B"}).json["name"] == "B"
    give(app, "Viewer")
    assert admin.delete(f"/odata/Clients({made})").status_code == 403
    assert names(app) == ["B"]
    with app.app_context(), read_engine().connect() as connection:
        refusals = connection.execute(
            text("SELECT count(*) FROM audit_records WHERE action = 'access.denied'")
        ).scalar_one()
    assert refusals == 2  # each once, though all was done anew


def test_a_request_that_is_done_anew_counts_once(
    app: Flask, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    count = Limiter.count_caller

    def note(self: Limiter, caller: Caller, requests: int = 1) -> Verdict:
        counted.append(caller.principal)
        return count(self, caller, requests)

    monkeypatch.setattr(Limiter, "count_caller", note)
    admin.get("/odata/Clients")
    with app.app_context(), transaction():
        bump_epoch()
    assert admin.get("/odata/Clients").headers["RateLimit-Limit"]
    assert admin.get("/odata/Clients").status_code == 200
    assert len(counted) == 3


def test_what_was_done_on_the_way_is_done_once(app: Flask, admin: Api) -> None:
    admin.get("/odata/Clients")
    with app.app_context(), transaction():
        bump_epoch()
    made = admin.post("/odata/Clients", {"name": "A"})
    assert made.status_code == 201
    with app.app_context(), read_engine().connect() as connection:
        told = connection.execute(
            text("SELECT entity_id, type FROM events WHERE type = 'client.created'")
        ).all()
    assert told == [(made.json["id"], "client.created")]


# --- how it is asked ----------------------------------------------------------------------------


@ONLY_POSTGRESQL
def test_the_first_statement_asks_along(admin: Api, asked_apart: list[int]) -> None:
    made = admin.post("/odata/Clients", {"name": "A"}).json["id"]
    admin.patch(f"/odata/Clients({made})", {"name": "B"})
    admin.get(f"/odata/Clients({made})")
    admin.get("/odata/Clients?$expand=Contacts&$count=true")
    admin.get("/odata/Clients(999)")
    assert asked_apart == []
    admin.get("/odata/$metadata")  # takes no statement
    admin.get("/odata/Clients?$filter=(")
    assert len(asked_apart) == 2


@pytest.mark.only_on("sqlite")
def test_on_sqlite_a_change_asks_in_its_transaction(
    admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    current = SqliteEpoch.current

    def note(self: SqliteEpoch) -> int:
        asked.append(1)
        return current(self)

    monkeypatch.setattr(SqliteEpoch, "current", note)
    made = admin.post("/odata/Clients", {"name": "A"}).json["id"]
    assert admin.patch(f"/odata/Clients({made})", {"name": "B"}).status_code == 200
    assert admin.delete(f"/odata/Clients({made})").status_code == 204
    assert asked == []
    admin.post("/odata/Clients/$query", data=b"")  # no transaction
    admin.get("/odata/Clients")
    assert asked == [1, 1]


@pytest.mark.parametrize("kind", ["idempotent", "batch", "file", "rest"])
def test_what_cannot_be_done_anew_asks_first(
    admin: Api, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(Premise, "take", lambda *arguments: pytest.fail("it asked late"))
    if kind == "idempotent":
        key = {"Idempotency-Key": "one-and-only"}
        answer = admin.post("/odata/Clients", {"name": "A"}, headers=key)
    elif kind == "batch":
        answer = admin.post("/odata/$batch", {"requests": []})
    elif kind == "file":
        headers = {"Content-Type": "text/csv"}
        answer = admin._send("POST", "/odata/Documents", data=b"a,b", headers=headers)
    else:
        answer = admin.get("/api/auth/me")
    assert answer.status_code != 401
    with pytest.raises(BaseException, match="it asked late"):
        admin.post("/odata/Clients", {"name": "B"})


@ONLY_POSTGRESQL
def test_a_database_that_is_gone_is_an_answer(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    admin.get("/odata/$metadata")

    def gone(self: DatabaseEpoch) -> int:
        raise OperationalError("SELECT", None, ConnectionError())

    monkeypatch.setattr(DatabaseEpoch, "current", gone)
    assert admin.get("/odata/$metadata").status_code == 503


def test_a_request_that_is_broken_off_leaves_nothing(
    admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*arguments: Any) -> None:
        assert premise.is_open
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(ODataService, "answer", break_off)
        admin.post("/odata/Clients", {"name": "A"})
    assert not premise.is_open
    assert admin.get("/odata/Clients").status_code == 200


@ONLY_POSTGRESQL
def test_with_a_replica_it_asks_first(app: Flask) -> None:
    with app.app_context():
        assert not DatabaseEpoch(primary_engine(), alone=False).late_methods
        assert "GET" in DatabaseEpoch(primary_engine(), alone=True).late_methods


# --- the statements themselves ------------------------------------------------------------------


def changed(connection: Connection) -> list[Any]:
    """What ``CHANGE`` has left in the database."""
    return fetch_all(connection, "SELECT value FROM security_epochs WHERE value = -5")


@pytest.fixture
def presumed() -> Iterator[Callable[[str, int], None]]:
    yield lambda sql, value: premise.take(sql.encode(), value)
    premise.is_open = premise.is_wrong = False


@ONLY_POSTGRESQL
def test_one_way_asks_and_answers(
    app: Flask, presumed: Callable[[str, int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[int] = []
    together = direct.send_together

    def note(libpq: Any, statements: Any) -> Any:
        ways.append(len(statements))
        return together(libpq, statements)

    monkeypatch.setattr(direct, "send_together", note)
    with app.app_context():
        with db.engine.connect() as connection, connection.begin():
            presumed("SELECT 7", 7)
            execute_later(connection, "CREATE TEMPORARY TABLE one (id int) ON COMMIT DROP")
            assert fetch_all(connection, "SELECT count(*) FROM one") == [(0,)]
            assert fetch_all(connection, "SELECT 2") == [(2,)]
        assert ways == [4]  # BEGIN, what was due, the question, and the first that is awaited
        with read_engine().connect() as connection:
            presumed("SELECT 7", 7)
            assert fetch_all(connection, "SELECT 3") == [(3,)]
        assert ways == [4, 2]
    assert premise.holds(lambda: pytest.fail("asked twice"))


def test_a_wrong_premise_undoes_the_transaction(
    app: Flask, presumed: Callable[[str, int], None]
) -> None:
    with app.app_context(), db.engine.connect() as connection:
        presumed("SELECT 8", 7)
        with pytest.raises(PremiseError), connection.begin():
            execute(connection, CHANGE)
        assert not premise.holds(lambda: pytest.fail("asked twice"))
        assert changed(connection) == []


@pytest.mark.only_on("sqlite")
def test_who_shares_a_commit_is_undone_alone(
    app: Flask, presumed: Callable[[str, int], None]
) -> None:
    with app.app_context(), db.engine.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        driver.batch = Batch()
        driver.execute("BEGIN IMMEDIATE")
        driver.execute(CHANGE)
        presumed("SELECT 8", 7)
        with pytest.raises(PremiseError):
            driver.begin()
        assert driver.in_transaction  # with what the one before has written
        assert driver.execute("SELECT value FROM security_epochs").fetchall() == [(-5,)]
        presumed("SELECT 7", 7)
        driver.begin()
        driver.rollback()
        driver.batch = None
        driver.rollback()


@ONLY_POSTGRESQL
def test_nothing_is_committed_before_somebody_has_asked(
    app: Flask, presumed: Callable[[str, int], None]
) -> None:
    with app.app_context(), db.engine.connect() as connection:
        with pytest.raises(PremiseError), connection.begin():
            connection.execute(text(CHANGE))
            presumed("SELECT 8", 7)
        premise.is_wrong = False
        assert changed(connection) == []


@ONLY_POSTGRESQL
def test_a_refused_statement_leaves_the_question_open(
    app: Flask, presumed: Callable[[str, int], None]
) -> None:
    with app.app_context(), read_engine().connect() as connection:
        presumed("SELECT 8", 7)
        with pytest.raises(Exception, match="division by zero"):
            fetch_all(connection, "SELECT 1/0")
        assert premise.is_open
        assert not premise.holds(lambda: 8)


def test_what_was_asked_is_not_asked_again(presumed: Callable[[str, int], None]) -> None:
    assert premise.holds(lambda: pytest.fail("there is nothing to ask"))
    presumed("SELECT 1", 1)
    assert premise.holds(lambda: 1)
    assert premise.holds(lambda: pytest.fail("there is nothing to ask"))
    presumed("SELECT 1", 1)
    assert not premise.holds(lambda: 2)
    assert premise.holds(lambda: pytest.fail("there is nothing to ask"))
