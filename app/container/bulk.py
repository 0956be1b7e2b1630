"""One action on many records: each in a transaction of its own, with what came of it beside.

What was done to a record and the note of it are one transaction, so that a run that is cut off goes
on where it stood, and does nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select, update

from app import audit
from app.auth.rights import acting_for
from app.clock import utc_now
from app.container.declared import of_many
from app.db import records
from app.errors import ApiError, InvalidStateError, NotFoundError, ValidationError
from app.extensions import Model, db
from app.http.error_answers import as_api_error
from app.http.request_context import running_app
from app.http.security import current_caller
from app.jobs.leases import Loop, StoppingError, keep, leave_if_stopping, take, wake
from app.jobs.schedule import remove_rows
from app.models.bulk_run import BulkItem, BulkRun
from app.writing.services import SERVICES

LOOP = "bulk-changes"
# More records than these are left to the worker: a request should end within seconds.
AT_ONCE = 50
MOST = 10_000
LEASE_SECONDS = 60
# The lease is renewed after so many records.
PIECE = 50
# Who is responsible for a record; the first that its type has.
PERSONS = ("assignee_id", "manager_id", "owner_id")
KEPT = timedelta(days=30)
# Actions that change properties alone: what these had before can be put back.
UNDONE_BY_UPDATE = ("set", "tag", "untag")


def start_run(entity: str, keys: Sequence[int], action: Mapping[str, Any]) -> int:
    """Begin a run; few records are done before this returns, many are left to the worker.

    Args:
        entity: the type of the records, such as ``Ticket``.
        action: ``{"name": "set", "attribute": "status", "value": "Open"}``, with other attributes
            in ``besides``; ``tag`` and ``untag`` with a ``value``; an operation by its name in
            ``allowedActions``, such as ``send``.
    Returns: the id of the run.
    Raises: ValidationError, there are no records, or more than ``MOST``.
    """
    wanted = list(dict.fromkeys(keys))
    if not 0 < len(wanted) <= MOST:
        raise ValidationError([("keys", f"choose 1 to {MOST:,} records")])
    return _begin(entity, [{"record_id": key} for key in wanted], action)


def undo_run(run_id: int) -> int:
    """Begin a run that gives the records of another what they had before.

    A record that was changed since is left as it is, and its line says so.

    Raises: NotFoundError; InvalidStateError, it is not done, or was undone already.
    """
    run = get_run(run_id)
    if not can_undo(run):
        raise InvalidStateError("This cannot be undone.", [("undo", "is not possible")])
    done = select(BulkItem.record_id, BulkItem.before, BulkItem.after).where(
        BulkItem.run_id == run_id, BulkItem.status == "done"
    )
    items = [
        {"record_id": row.record_id, "before": row.after, "after": row.before}
        for row in records.connection().execute(done.order_by(BulkItem.id))
    ]
    return _begin(run["entity"], items, {"name": "undo", "of": run["action"]}, undo_of=run_id)


def can_undo(run: Mapping[str, Any]) -> bool:
    """Whether a run is over, changed something that can be put back, and was not undone yet."""
    if run["finished_at"] is None or run["action"]["name"] not in UNDONE_BY_UPDATE:
        return False
    undone = select(BulkRun.id).where(BulkRun.undo_of_id == run["id"])
    return bool(run["counts"].get("done")) and (
        records.connection().execute(undone.limit(1)).first() is None
    )


def get_run(run_id: int) -> dict[str, Any]:
    """A run of the caller, with how many of its records are ``waiting``, ``done``, ``failed``.

    Raises: NotFoundError, there is none, or it is somebody else's.
    """
    run = records.read(BulkRun, run_id)
    if run is None or run.user_id != current_caller().user_id:
        raise NotFoundError("There is no such run.")
    counted = (
        select(BulkItem.status, func.count())
        .where(BulkItem.run_id == run_id)
        .group_by(BulkItem.status)
    )
    rows = records.connection().execute(counted).all()
    return {**records.columns_of(run), "counts": {row.status: row[1] for row in rows}}


def items_of(run_id: int, status: str, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    """Records of a run with what came of them, those of one status."""
    statement = (
        select(BulkItem)
        .where(BulkItem.run_id == run_id, BulkItem.status == status)
        .order_by(BulkItem.id)
        .limit(limit)
        .offset(offset)
    )
    return [dict(row) for row in records.connection().execute(statement).mappings()]


def _begin(
    entity: str,
    items: Sequence[Mapping[str, Any]],
    action: Mapping[str, Any],
    *,
    undo_of: int | None = None,
) -> int:
    """Begin a run of ``items``; those of one that undoes say what was and what will be."""
    now = utc_now()
    is_left = len(items) > AT_ONCE
    run = {
        "created_at": now, "user_id": current_caller().user_id, "entity": entity,
        "action": dict(action), "total": len(items), "undo_of_id": undo_of,
        "leased_until": None if is_left else now + timedelta(seconds=LEASE_SECONDS),
    }  # fmt: skip
    run_id = records.insert(BulkRun, run)
    records.insert_all(
        BulkItem,
        [{"created_at": now, "run_id": run_id, "status": "waiting", **item} for item in items],
    )
    summary = {"records": len(items), **{name: action[name] for name in action if name != "of"}}
    audit.record("bulk.started", entity, after=summary)
    if is_left:
        wake(running_app(), LOOP)
        return run_id
    db.session.commit()
    while _do_some({"id": run_id, **run}, AT_ONCE):
        pass
    records.update(BulkRun, run_id, {"finished_at": utc_now(), "leased_until": None})
    return run_id


# --- the work


def _do_some(run: Mapping[str, Any], limit: int, look: Callable[[], None] | None = None) -> int:
    """Do the next records of a run; how many there were.

    Args:
        look: called before each.
    """
    waiting = items_of(run["id"], "waiting", limit)
    for item in waiting:
        if look is not None:
            look()
        _do(run, item)
    return len(waiting)


def _do(run: Mapping[str, Any], item: Mapping[str, Any]) -> None:
    """Do one record: all of it with its note, or nothing and why."""
    try:
        noted = _change(run, item)
        if _note(item, noted):
            db.session.commit()
        else:
            db.session.rollback()
    except StoppingError:
        db.session.rollback()
        raise
    except Exception as error:  # whatever it is, the others are to be done; it is logged there
        db.session.rollback()
        _note(item, {"status": "failed", "error": _reason(error)})
        db.session.commit()


def _note(item: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Write what came of a record; False where another has done it, who took the run over."""
    waiting = (BulkItem.id == item["id"]) & (BulkItem.status == "waiting")
    noted = records.connection().execute(update(BulkItem).where(waiting).values(**values))
    return bool(noted.rowcount)


def _reason(error: Exception) -> str:
    """Why a record was refused, in one line."""
    refusal: ApiError = as_api_error(error)
    details = [f"{detail.field} {detail.message}".strip() for detail in refusal.details]
    text = (
        "; ".join(details) if isinstance(refusal, ValidationError) and details else refusal.message
    )
    return text[:500]


def _change(run: Mapping[str, Any], item: Mapping[str, Any]) -> dict[str, Any]:
    """Do to one record what a run does; returns what is noted of it."""
    action, key = run["action"], item["record_id"]
    if (operation := of_many(run["entity"]).get(action["name"])) is not None:
        operation.call(key, operation.load({}))
        return {"status": "done"}
    service = SERVICES[run["entity"]]
    record = service.locked(key, current_caller())
    values = _undone(item, record) if action["name"] == "undo" else _values(action, record)
    before = {name: getattr(record, name) for name in values}
    if before == values:
        return {"status": "unchanged"}
    service.update(key, values)
    return {"status": "done", "before": before, "after": values}


def _values(action: Mapping[str, Any], record: Any) -> dict[str, Any]:
    """The values that an action gives a record."""
    if action["name"] == "set":
        return {action["attribute"]: action["value"], **action.get("besides", {})}
    tags = [tag for tag in record.tags or [] if tag != action["value"]]
    return {"tags": [*tags, action["value"]] if action["name"] == "tag" else tags}


def _undone(item: Mapping[str, Any], record: Any) -> dict[str, Any]:
    """The values that a record had before the run that is undone.

    Raises: InvalidStateError, they were changed since.
    """
    if any(getattr(record, name) != value for name, value in item["before"].items()):
        raise InvalidStateError("It was changed since, and is left as it is.")
    values: dict[str, Any] = item["after"]
    return values


# --- by the worker


def run_bulk() -> int:
    """The loop: do one run that waits, or that another worker died over."""
    due = BulkRun.finished_at.is_(None)
    rows = take(BulkRun.__table__, due, limit=1, seconds=LEASE_SECONDS)
    for row in rows:
        _work(dict(row))
    return len(rows)


def _work(run: dict[str, Any]) -> None:
    try:
        with acting_for(run["user_id"]) as look:
            while _do_some(run, PIECE, look):
                _keep(run, {}, LEASE_SECONDS)
                leave_if_stopping()
    except StoppingError:
        _keep(run, {})
        raise
    except ApiError as error:
        _end_all(run, error.message)
    else:
        _keep(run, {"finished_at": utc_now()})


def _end_all(run: dict[str, Any], reason: str) -> None:
    waiting = update(BulkItem).where(BulkItem.run_id == run["id"], BulkItem.status == "waiting")
    records.connection().execute(waiting.values(status="failed", error=reason[:500]))
    _keep(run, {"finished_at": utc_now()})


def _keep(run: dict[str, Any], values: Mapping[str, Any], seconds: int | None = None) -> None:
    """Write into the run and commit; without ``seconds`` it is given back.

    Raises: LostError.
    """
    keep(BulkRun.__table__, run, values, seconds=seconds)
    db.session.commit()
    db.session.remove()


def tidy_runs() -> int:
    """Remove runs that ended long ago, with their lines."""
    table = Model.metadata.tables["bulk_runs"]
    return remove_rows(table, table.c.finished_at < utc_now() - KEPT)


BULK_LOOP = Loop(LOOP, run_bulk, idle_seconds=1.0)
