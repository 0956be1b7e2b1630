"""Whether the process lives, and whether it can serve; without credentials, and not counted."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from flask import Blueprint, Response, current_app, jsonify
from sqlalchemy.exc import SQLAlchemyError

from app.ai.provider.answering import ai_provider
from app.blobs import blobs
from app.clock import utc_now
from app.db.engines import read_engine
from app.db.outages import reason_of
from app.db.schema import has_all_tables
from app.http.limits import rate_limits
from app.http.security import counted, public
from app.jobs.schedule import LATE_AFTER, last_beat
from app.search import embedding

health = Blueprint("health", __name__)

_log = structlog.get_logger(__name__)
OK = "ok"
# Without these nothing is served; without the others something is missing or slower.
_NECESSARY = ("database",)


@health.get("/healthz")
@public
@counted("free")
def live() -> Response:
    return jsonify(status=OK)


@health.get("/readyz")
@public
@counted("free")
def ready() -> Response:
    """What the service needs: 503 without the database, ``degraded`` without the rest."""
    checks = {"database": _check(_database)}
    if checks["database"] == OK:
        checks["worker"] = _check(_worker)
    checks |= {"redis": _redis(), "storage": blobs.current.check(), "search": _search()}
    checks["assistant"] = _assistant()
    bad = [name for name, state in checks.items() if state not in (OK, "not used")]
    unavailable = any(name in _NECESSARY for name in bad)
    status = "unavailable" if unavailable else "degraded" if bad else OK
    response = jsonify(status=status, checks=checks)
    if unavailable:
        response.status_code = 503
        response.headers["Retry-After"] = "5"
    return response


def _check(check: Callable[[], str]) -> str:
    try:
        return check()
    except SQLAlchemyError as error:
        _log.warning("the database cannot be used", reason=reason_of(error))
        return "away"


def _database() -> str:
    with read_engine().connect() as connection:
        return OK if has_all_tables(connection) else "not migrated"


def _search() -> str:
    # Without the embedding model it goes by words alone.
    return OK if embedding.is_installed() else "by words only"


def _assistant() -> str:
    # Without its model the built-in assistant answers. The provider itself is not asked: it may
    # cost money, and this page is asked every few seconds.
    provider = ai_provider.current
    if provider is None:
        return "not used"
    return OK if provider.health.is_well() else "provider fails"


def _worker() -> str:
    beaten_at = last_beat()
    if beaten_at is None:
        return "never seen"
    return OK if utc_now() - beaten_at < LATE_AFTER else "late"


def _redis() -> str:
    if current_app.config["REDIS_URL"] is None:
        return "not used"
    # Limits are counted by each process for itself until it is back.
    return OK if rate_limits.current.limiter.storage.check() else "away"
