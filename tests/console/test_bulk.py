"""One action on many records: asked for, done one by one, told, and undone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.container import bulk
from app.db import records
from app.db.engines import transaction
from app.extensions import db
from app.http.security import acting_as, system_caller
from app.jobs.leases import Loop
from app.models.bulk_run import BulkRun
from app.models.ticket import Ticket
from tests.console.conftest import Browser, SignIn
from tests.factories import (
    create,
    make_client,
    make_invoice,
    make_issued_invoice,
    make_lead,
    make_opportunity,
)


def tickets(app: Flask, count: int, **values: Any) -> list[int]:
    """New tickets."""
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        given = {"channel": "Web", "requester_email": "a@example.com", **values}
        return [create("Ticket", {"subject": f"Printer {n}", **given}) for n in range(count)]


def change(browser: Browser, path: str, action: str, **fields: Any) -> str:
    """Do an action on records; the page that tells what came of it."""
    answer = browser.submit(f"{path}/bulk", action=action, confirm="1", **fields)
    assert answer.status_code == 303, answer.text
    return browser.get(answer.headers["Location"].removeprefix("/admin/")).text


def test_it_stands_folded_is_asked_first_and_names_what_it_will_do(
    app: Flask, sign_in: SignIn
) -> None:
    browser = sign_in("Support")
    keys = tickets(app, 12)
    text = browser.submit("tickets/bulk", action="status", key=keys).text
    assert "12 tickets" in text and "Printer 0" in text and "and 2 more" in text
    assert "Open: 12 of 12 can be" in text
    listed = browser.get("tickets/").text
    assert listed.count('name="key"') == 12
    folded = listed.partition('<details class="picked">')[2].partition("</details>")[0]
    assert "Assign to me" in folded and 'name="all"' in folded


def test_records_are_assigned_and_get_back_what_they_had(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Support")
    keys = tickets(app, 3)
    told = change(browser, "tickets", "me", key=keys)
    assert "3 tickets:" in told and "3 done" in told and "0 refused" in told
    assert "of 3<" in browser.get("tickets/?where=assigneeId:me:").text
    browser.submit(f"tickets/{keys[0]}/edit", assigneeId="", subject="Printer 0", version="")
    run = re.search(r'action="/admin/(bulk/\d+)"', told)
    assert run is not None
    undone = browser.submit(run[1], step="undo")
    text = browser.get(undone.headers["Location"].removeprefix("/admin/")).text
    assert "done" in text
    assert "Nothing fits." in browser.get("tickets/?where=assigneeId:me:").text
    assert browser.submit(run[1], step="undo").status_code == 409


def test_what_was_changed_since_is_left_by_the_undo(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Support")
    keys = tickets(app, 2)
    told = change(browser, "tickets", "status", key=keys, value="Pending")
    browser.submit(f"tickets/{keys[0]}", step="status:Open")
    run = re.search(r'action="/admin/(bulk/\d+)"', told)
    assert run is not None
    undone = browser.submit(run[1], step="undo")
    text = browser.get(undone.headers["Location"].removeprefix("/admin/")).text
    assert "It was changed since, and is left as it is." in text


@pytest.mark.parametrize(
    ("path", "value", "reasons", "before"),
    [
        ("opportunities", "ClosedLost", {"lostReason": "Price", "lostNotes": ""}, "Prospecting"),
        ("leads", "Disqualified", {"disqualifyReason": "NoFit", "disqualifyNotes": "x"}, "New"),
    ],
)
def test_a_state_that_needs_a_reason_asks_for_it_once(
    app: Flask, sign_in: SignIn, path: str, value: str, reasons: dict[str, str], before: str
) -> None:
    browser = sign_in("Admin")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make = make_opportunity if path == "opportunities" else make_lead
        form = {"action": "status", "key": [make(), make()], "value": value, "confirm": "1"}
    asked = browser.submit(f"{path}/bulk", **form)
    assert asked.status_code == 200
    assert all(f'name="{name}"' in asked.text for name in reasons)
    refused = browser.submit(f"{path}/bulk", **form, **dict.fromkeys(reasons, ""))
    assert refused.status_code == 400 and 'aria-invalid="true"' in refused.text
    begun = browser.submit(f"{path}/bulk", **form, **reasons)
    told = browser.client.get(begun.location).text
    assert "2 done" in told and "0 refused" in told
    assert browser.get(f"{path}/?state={value}").text.count("<tr data-key") == 2
    undone = browser.submit(begun.location.removeprefix("/admin/"), step="undo")
    assert "2 done" in browser.client.get(undone.location).text
    assert browser.get(f"{path}/?state={before}").text.count("<tr data-key") == 2


def test_what_is_refused_keeps_no_other_back_and_says_why(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Accountant")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        client = make_client(email="a@example.com")
        keys = [make_invoice(client_id=client), make_issued_invoice(client_id=client),
                make_invoice()]  # fmt: skip
    told = change(browser, "invoices", "send", key=keys)
    assert "2 done" in told and "1 refused" in told and "Refused</span>" in told
    assert "Undo" not in told
    assert "of 2<" in browser.get("invoices/?state=Sent").text


def test_tags_are_added_once_and_taken_away(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Support")
    keys = tickets(app, 1, tags=["old"]) + tickets(app, 1, tags=["vip"])
    told = change(browser, "tickets", "tag", query="q=printer", all="1", value="vip")
    assert "1 done" in told and "1 as they were" in told
    assert "of 2<" in browser.get("tickets/?where=tags:has:vip").text
    change(browser, "tickets", "untag", key=keys, value="vip")
    assert "of 1<" in browser.get("tickets/?where=tags:has:old").text


def test_many_are_left_to_the_worker_which_goes_on_where_it_was_cut_off(
    app: Flask, sign_in: SignIn
) -> None:
    browser = sign_in("Support")
    tickets(app, bulk.AT_ONCE + 20)
    told = change(browser, "tickets", "tag", query="", all="1", value="vip")
    assert "0 of 70 so far" in told and "data-live" in told
    assert "The worker gives no sign of life" in told  # none runs here
    with app.app_context():
        assert isinstance(bulk.BULK_LOOP, Loop) and bulk.BULK_LOOP.run() == 1
    assert "of 70<" in browser.get("tickets/?where=tags:has:vip").text
    with app.app_context():
        assert bulk.BULK_LOOP.run() == 0
        with transaction():
            (run,) = records.connection().execute(BulkRun.__table__.select()).all()
    assert run.finished_at is not None and run.leased_until is None


@pytest.mark.parametrize(
    ("action", "fields", "status"),
    [
        ("status", {"key": ["1"], "value": "Nowhere"}, 400), ("assign", {"key": ["1"]}, 400),
        ("tag", {"key": ["1"], "value": "x" * 51}, 400), ("delete", {"key": ["1"]}, 404),
        ("send", {"key": ["1"]}, 404), ("tag", {}, 303),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_at_once(
    sign_in: SignIn, action: str, fields: dict[str, Any], status: int
) -> None:
    answer = sign_in("Support").submit("tickets/bulk", action=action, confirm="1", **fields)
    assert answer.status_code == status


def test_a_viewer_chooses_nothing(app: Flask, sign_in: SignIn) -> None:
    browser = sign_in("Viewer")
    key = tickets(app, 1)[0]
    assert 'name="key"' not in browser.get("tickets/").text
    answer = browser.submit("tickets/bulk", action="tag", key=str(key), value="x", confirm="1")
    assert answer.status_code == 404


def test_a_run_is_shown_to_who_began_it_only(app: Flask, sign_in: SignIn) -> None:
    support, manager = sign_in("Support"), sign_in("Manager")
    told = change(support, "tickets", "tag", key=tickets(app, 1), value="x")
    run = re.search(r'action="/admin/(bulk/\d+)"', told)
    assert run is not None
    assert manager.get(run[1]).status_code == 404
    assert manager.submit(run[1], step="undo").status_code == 404


@pytest.mark.both_databases
def test_who_was_overtaken_by_another_worker_does_nothing_twice(
    app: Flask, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tickets(app, bulk.AT_ONCE + 1)
    form = {"action": "tag", "value": "x", "confirm": "1", "key": keys}
    sign_in("Support").submit("tickets/bulk", **form)
    with app.app_context():
        waiting = bulk.items_of(1, "waiting", 100)
        assert len(waiting) == len(keys) and bulk.BULK_LOOP.run() == 1
        versions = [records.get(Ticket, key).version for key in keys]
        records.update(BulkRun, 1, {"finished_at": None, "leased_until": None})
        db.session.commit()
        left = [waiting, []]
        monkeypatch.setattr(bulk, "items_of", lambda *_: left.pop(0))
        assert bulk.BULK_LOOP.run() == 1
        monkeypatch.undo()
        assert [records.get(Ticket, key).version for key in keys] == versions
        assert len(bulk.items_of(1, "done", 100)) == len(keys)
