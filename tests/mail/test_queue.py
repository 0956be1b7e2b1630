"""Administrators look at the outbox, and try again what did not reach everybody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from app.clock import utc_now
from app.db.engines import transaction
from app.errors import ForbiddenError, InvalidStateError, NotFoundError
from app.http.security import acting_as, make_caller, system_caller
from app.mail.outbox import STATUSES, count_mail, list_mail, retry_mail, show_mail
from app.models.event import AuditRecord
from app.permissions import ROLES
from tests.factories import rows
from tests.mail.conftest import Post

SENT = {"a@acme.example": {"status": "sent", "error": None, "at": "2026-01-01T00:00:00Z"}}
LOST = {"b@acme.example": {"status": "failed", "error": "no such user", "at": None}}


@contextmanager
def administering(post: Post) -> Iterator[None]:
    with post.app.app_context(), acting_as(system_caller("test")), transaction():
        yield


def test_the_newest_is_first_and_each_state_has_its_number(post: Post) -> None:
    keys = [post.queue(subject=f"Mail {number}") for number in range(3)]
    post.set(keys[0], status="failed", error="refused")
    with administering(post):
        assert [mail["id"] for mail in list_mail(None, limit=2, offset=0)["items"]] == [
            keys[2], keys[1],
        ]  # fmt: skip
        assert [mail["id"] for mail in list_mail("failed", limit=9, offset=0)["items"]] == [keys[0]]
        assert count_mail() == {**dict.fromkeys(STATUSES, 0), "queued": 2, "failed": 1}
        shown = show_mail(keys[1])
        assert (shown["subject"], shown["text"], shown["html"]) == ("Mail 1", "Hi there.", None)
        assert shown["nextAttemptAt"] is not None
        assert show_mail(keys[0])["nextAttemptAt"] is None
        with pytest.raises(NotFoundError):
            show_mail(987_654)


def test_a_mail_that_waits_is_tried_at_once(post: Post) -> None:
    key = post.queue()
    post.set(key, next_attempt_at=utc_now() + timedelta(hours=3))
    with administering(post):
        retry_mail(key)
    row = post.row(key)
    assert row["status"] == "queued" and row["next_attempt_at"] <= utc_now()
    with administering(post):
        assert [entry["action"] for entry in rows(AuditRecord)][-1] == "mail.retried"


def test_only_those_whom_it_did_not_reach_get_it_again(post: Post) -> None:
    key = post.queue(to=["a@acme.example", "b@acme.example"])
    message_id = post.row(key)["message_id"]
    post.set(key, status="sent", outcomes=SENT | LOST, error="refused")
    with administering(post):
        retry_mail(key)
    row = post.row(key)
    assert (row["status"], row["error"], row["message_id"]) == ("queued", None, message_id)
    assert row["outcomes"] == SENT


@pytest.mark.parametrize(
    ("status", "outcomes"), [("sent", SENT), ("sending", SENT | LOST)], ids=["all", "on its way"]
)
def test_what_reached_everybody_or_is_on_its_way_is_left(
    post: Post, status: str, outcomes: Any
) -> None:
    key = post.queue(to=list(outcomes))
    post.set(key, status=status, outcomes=outcomes)
    with administering(post), pytest.raises(InvalidStateError):
        retry_mail(key)
    with administering(post), pytest.raises(NotFoundError):
        retry_mail(987_654)


@pytest.mark.parametrize("role", ["Sales", "Support", "Viewer"])
def test_the_outbox_is_the_administrators(post: Post, role: str) -> None:
    key = post.queue()
    with post.app.app_context(), acting_as(make_caller(1, "a", "jwt", ROLES[role])):
        for ask in (
            lambda: list_mail(None, limit=1, offset=0), count_mail, lambda: show_mail(key),
            lambda: retry_mail(key),
        ):  # fmt: skip
            with pytest.raises(ForbiddenError):
                ask()
