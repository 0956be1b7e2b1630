"""Rows that are written together are what they would be one by one, with few statements."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select
from sqlalchemy.orm import Session

from app.extensions import db
from app.importing import rows
from app.models.client import Client, Contact
from app.models.event import AuditRecord, Event
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]

CLIENTS = [
    *(f"First {number},f{number}@b.example,F-{number}," for number in range(8)),
    "Bad address,nobody,B-1,",
    *(f"Second {number},s{number}@b.example,S-{number},Boss" for number in range(8)),
    "Twin of another,t@b.example,S-3,",
    ",nameless@b.example,N-1,",
    "No such owner,o@b.example,O-1,Nobody",
    "Too,many@b.example,M-1,,cells",
    "Again,f2@b.example,F-2,",
    "New,new@b.example,NEW,",
    "New once more,new@b.example,NEW,",
    *(f"Third {number},h{number}@b.example,H-{number}," for number in range(8)),
]
CONTACTS = [f"Person {number},F-{number % 3},{number % 2 == 0}" for number in range(12)]
PEOPLE = [
    f"Person {number},p{number}@b.example,F-{number % 4},{number == 9}" for number in range(24)
]
# Of people: other names and clients, main contacts that make way for one another, and bad rows.
CHANGED_PEOPLE = [
    *(f"Other {number},p{number}@b.example,F-{number % 5},False" for number in range(9)),
    *(f"Main {number},p{number}@b.example,F-3,{number % 2 == 0}" for number in range(9, 15)),
    *(f"Same {number},p{number}@b.example,F-{number % 4},False" for number in range(15, 20)),
    ",p20@b.example,F-1,False",
    "Twice,p16@b.example,F-1,False",
    "New,new@b.example,F-1,True",
    "Nowhere,p21@b.example,F-99,False",
    *(f"Last {number},p{number}@b.example,F-1,{number == 23}" for number in range(22, 24)),
]


def send(api: Api, type_: str, headings: str, lines: list[str], **fields: Any) -> Any:
    content = io.BytesIO("\n".join((headings, *lines)).encode())
    form = {"type": type_, "mode": "skipBad", **fields, "file": (content, "rows.csv")}
    answer = api.client.post("/api/crm/import", data=form, headers=api.headers)
    assert answer.status_code == 200, answer.text
    return answer.json


def state(session: Session) -> dict[str, Any]:
    """What is there after imports: records, and what tells of each of them, in its order."""
    session.rollback()
    columns = (Client.number, Client.name, Client.external_id, Client.owner_id, Client.version)
    clients = session.execute(select(*columns).order_by(Client.number)).all()
    people = session.execute(
        select(Contact.last_name, Client.number, Contact.is_primary)
        .join(Client, Client.id == Contact.client_id)
        .order_by(Contact.id)
    ).all()
    present = {
        model.__name__: set(session.scalars(select(model.id)).all()) for model in (Client, Contact)
    }
    events = session.scalars(select(Event).order_by(Event.entity, Event.entity_id, Event.id)).all()
    of_record = (AuditRecord.entity, AuditRecord.entity_id, AuditRecord.id)
    lines = session.scalars(select(AuditRecord).order_by(*of_record)).all()
    return {
        "clients": list(map(tuple, clients)),
        "people": list(map(tuple, people)),
        "events": [
            (each.type, each.sequence, each.payload["object"].get("name"), sorted(each.payload))
            for each in events
            if each.entity_id in present.get(each.entity, ())
        ],
        "lines": [
            (line.action, line.via, line.before, line.after)
            for line in lines
            if line.entity_id in present.get(line.entity or "", ())
        ],
    }


@pytest.mark.parametrize("fields", [{}, {"update": "externalId"}, {"update": "email"}], ids=str)
def test_a_portion_gives_what_single_rows_give(
    make_app: Callable[..., Flask], sign_in: Callable[..., Api], session: Session,
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, str],
) -> None:  # fmt: skip
    api, outcomes = sign_in("Admin"), []
    boss = sign_in("Sales").get("/api/auth/me").json
    owner = boss["displayName"] or boss["username"]
    lines = [line.replace("Boss", owner) for line in CLIENTS]
    states = []
    for size in (1, 200):
        monkeypatch.setattr(rows, "CHUNK", size)
        outcome = [
            send(api, "client", "name,email,externalId,ownerName", lines, **more)
            for more in ({**fields, "dryRun": "true"}, fields)
        ]
        if not fields:
            headings = "lastName,clientExternalId,isPrimary"
            outcome.append(send(api, "contact", headings, CONTACTS))
        else:
            changed = [line.replace("Second", "Changed").replace(owner, "") for line in lines]
            headings = "name,email,externalId,ownerName"
            outcome.append(send(api, "client", headings, changed, **fields))
        if fields == {"update": "email"}:
            headings = "lastName,email,clientExternalId,isPrimary"
            outcome += [
                send(api, "contact", headings, people, **fields)
                for people in (PEOPLE, CHANGED_PEOPLE)
            ]
        outcomes.append(outcome)
        states.append(state(session))
        for name in ("Contacts", "Clients"):
            for record in api.get(f"/odata/{name}?$select=id").json["value"]:
                api.delete(f"/odata/{name}({record['id']})")
    (single, together), (first, second) = outcomes, states
    assert without_numbers(single) == without_numbers(together)
    assert without_numbers(first) == without_numbers(second)
    numbers = [row[0] for row in second["clients"]]
    assert numbers == sorted(numbers)


def without_numbers(value: Any) -> Any:
    """A copy without the running numbers and keys, which go on from one import to the next."""
    if isinstance(value, dict):
        named = {name: each for name, each in value.items() if name not in ("number", "clientId")}
        return {name: without_numbers(each) for name, each in named.items()}
    if isinstance(value, list | tuple):
        return [without_numbers(each) for each in value]
    return "C-" if isinstance(value, str) and value.startswith("C-0") else value


@pytest.fixture
def statements(app: Flask) -> Iterator[list[str]]:
    """What the database is asked."""
    texts: list[str] = []

    def note(_: Any, __: Any, text: str, *___: Any) -> None:
        texts.append(text)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", note)
    yield texts
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    "bad", ["", "X,nobody,B-1,", "X,x@b.example,C-1,"], ids=["none", "value", "twin"]
)
def test_a_portion_is_written_with_few_statements(
    admin: Api, statements: list[str], bad: str
) -> None:
    """Rows that cannot be taken cost statements of their own, and leave the others together."""
    lines = [f"Client {number},c{number}@b.example,C-{number}," for number in range(500)]
    if bad:
        lines[50::100] = [bad] * 5
    headings = "name,email,externalId,ownerName"
    outcome = send(admin, "client", headings, lines)
    assert outcome["created"] == (495 if bad else 500)
    assert len(statements) < 250


def test_changes_are_written_with_few_statements(admin: Api, statements: list[str]) -> None:
    """A record is read and written; what tells of it is told of all of them."""
    headings, update = "name,email,externalId", {"update": "externalId"}
    for name in ("Client", "Other"):
        lines = [f"{name} {number},c{number}@b.example,C-{number}" for number in range(500)]
        statements.clear()
        outcome = send(admin, "client", headings, lines, **update)
    assert (outcome["created"], outcome["updated"]) == (0, 500)
    assert len(statements) < 1300


def test_no_number_is_lost_where_the_database_refuses_a_row(
    app: Flask, admin: Api, session: Session
) -> None:
    lines = [f"Client {number},c{number}@b.example,C-{number % 30}," for number in range(40)]
    outcome = send(admin, "client", "name,email,externalId,ownerName", lines)
    assert (outcome["created"], outcome["skipped"]) == (30, 10)
    numbers = sorted(int(row[0].removeprefix("C-")) for row in state(session)["clients"])
    assert numbers == list(range(numbers[0], numbers[0] + 30))
