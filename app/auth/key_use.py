"""When and from where each API key was last used: written to the minute, after the answer."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial

import structlog
from flask import Flask, Response, after_this_request
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from app import audit
from app.clock import utc_now
from app.db.engines import transaction
from app.extensions import Extension
from app.http.security import Caller, acting_as
from app.models.user import ApiKey

WRITE_EVERY_SECONDS = 60
# After so long a silence the next use is a new one, which the audit log shows.
NEW_USE_AFTER = timedelta(hours=1)

_log = structlog.get_logger()


class KeyUse:
    """Notes the use of keys; once a minute and key it writes, when the caller has its answer."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._written: dict[int, float] = {}

    def note(self, caller: Caller, address: str | None) -> None:
        """The key of ``caller`` is used from ``address``."""
        assert caller.api_key_id is not None
        now = time.monotonic()
        if now - self._written.get(caller.api_key_id, -WRITE_EVERY_SECONDS) < WRITE_EVERY_SECONDS:
            return
        self._written[caller.api_key_id] = now

        @after_this_request
        def write_later(response: Response) -> Response:
            response.call_on_close(partial(self._write, caller, address))
            return response

    def _write(self, caller: Caller, address: str | None) -> None:
        try:
            with self._app.app_context(), transaction() as session, acting_as(caller):
                key = ApiKey.id == caller.api_key_id
                before = session.execute(select(ApiKey.last_used_at).where(key)).scalar()
                session.execute(
                    update(ApiKey).where(key).values(last_used_at=utc_now(), last_used_ip=address)
                )
                if before is None or before < utc_now() - NEW_USE_AFTER:
                    audit.record("api_key.used", "ApiKey", caller.api_key_id, ip=address)
        except SQLAlchemyError:
            # The answer is out; the next minute writes again.
            _log.warning("the use of an API key was not written", api_key_id=caller.api_key_id)


key_use = Extension[KeyUse]("key_use")
