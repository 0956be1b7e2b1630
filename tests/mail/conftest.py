"""Mail in the outbox, and an application that delivers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from flask import Flask

from app.clock import utc_now
from app.http.security import acting_as, system_caller
from app.mail.address import mail_target
from app.mail.delivery import deliver_due
from app.mail.outbox import queue_mail
from app.models.event import OutgoingMail
from app.settings import save_settings
from tests.business import bind_services
from tests.factories import put_row, rows


class Post:
    """The outbox of an application."""

    def __init__(self, app: Flask, begin: Callable[[], AbstractContextManager[Any]]) -> None:
        self.app = app
        self._begin = begin

    def queue(self, **values: Any) -> int:
        """A mail in the outbox, due now."""
        given = {"to": ["a@acme.example"], "subject": "Hello", "text": "Hi there."} | values
        with self.app.app_context(), self._begin():
            key: int = queue_mail(**given).id
        return key

    def set(self, key: int, **values: Any) -> None:
        """Set columns of a row."""
        with self.app.app_context(), self._begin():
            put_row(OutgoingMail, key, **values)

    def save_settings(self, values: dict[str, Any]) -> None:
        """Replace the settings of mail."""
        with self._begin(), acting_as(system_caller("test")):
            save_settings("mail", values)

    def make_due(self, key: int) -> None:
        """Let no back-off keep a mail."""
        self.set(key, next_attempt_at=utc_now())

    def row(self, key: int) -> Any:
        """The row as it is."""
        with self.app.app_context(), self._begin():
            return rows(OutgoingMail, id=key)[0]

    def deliver(self, server: Any) -> int:
        """One turn of the loop of a worker that has this server."""
        mail_target.bind(self.app, server)
        with self.app.app_context():
            return deliver_due()


@pytest.fixture
def post(app: Flask, unit_of_work: Callable[[], AbstractContextManager[Any]]) -> Iterator[Post]:
    """The outbox of a company with a sender."""
    bind_services(app)
    with unit_of_work(), acting_as(system_caller("test")):
        save_settings("mail", {"senderName": "Acme", "senderAddress": "billing@acme.example"})
    before = mail_target.of(app)
    yield Post(app, unit_of_work)
    mail_target.bind(app, before)
