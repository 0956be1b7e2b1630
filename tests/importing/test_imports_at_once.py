"""Files with the same people that come in at once: each person is made once."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.importing import submission
from app.importing.jobs import run_imports
from app.models.client import Contact
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]
PEOPLE = 40


def table(numbers: range) -> bytes:
    lines = [f"Person {number},p{number}@b.example,P-{number}" for number in numbers]
    return ("lastName,email,externalId\n" + "\n".join(lines)).encode()


@pytest.fixture
def send_both(app: Flask, admin: Api) -> Callable[[str], list[Any]]:
    """Send the same people in opposite order at the same time; the answers."""
    begin = threading.Barrier(2)

    def send(content: bytes, key: str) -> Any:
        begin.wait()
        form = {"type": "contact", "update": key, "file": (io.BytesIO(content), "people.csv")}
        return app.test_client().post("/api/crm/import", data=form, headers=admin.headers)

    def send_both(key: str) -> list[Any]:
        files = (table(range(PEOPLE)), table(range(PEOPLE - 1, -1, -1)))
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(send, files, (key, key)))

    return send_both


def people(session: Session) -> int:
    session.rollback()
    return session.scalar(select(func.count()).select_from(Contact)) or 0


@pytest.mark.parametrize("key", ["email", "externalId"])
def test_two_imports_at_once_make_each_person_once(
    send_both: Callable[[str], list[Any]], session: Session, key: str
) -> None:
    answers = send_both(key)
    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text
    counts = sorted((answer.json["created"], answer.json["updated"]) for answer in answers)
    assert counts == [(0, PEOPLE), (PEOPLE, 0)]
    assert people(session) == PEOPLE


def test_two_workers_too(
    app: Flask,
    send_both: Callable[[str], list[Any]],
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(submission, "MOST_AT_ONCE", 10)
    assert [answer.status_code for answer in send_both("email")] == [202, 202]

    def work() -> int:
        with app.app_context():
            return run_imports()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(work), pool.submit(work)
        assert first.result() + second.result() + work() == 2
    assert people(session) == PEOPLE
