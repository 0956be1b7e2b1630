"""Views of lists under a name: one's own, and those that a team lead shares with everybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from sqlalchemy import or_, select

from app import audit
from app.clock import utc_now
from app.console.filters import WHERE
from app.console.language import translated
from app.console.sets import Page
from app.db import records
from app.db.engines import read_engine
from app.errors import ForbiddenError, NotFoundError, ValidationError
from app.http.security import current_caller
from app.models.saved_view import SavedView
from app.permissions import allowed

# Who gives work to others leads a team; who keeps the settings tidies up.
SHARES, TIDIES = "leads:assign", "settings:update"
MOST_SAVED = 100
LONGEST_NAME = 100
# What of a list's address is kept.
_KEPT = ("q", "view", "state", WHERE, "sort", "rows", "columns")


def kept_query(text: str) -> list[tuple[str, str]]:
    return [pair for pair in parse_qsl(text) if pair[0] in _KEPT]


def views_saved(set_page: Page) -> list[dict[str, Any]]:
    """The views of a list that the caller has saved, and those that are shared, by name."""
    caller = current_caller()
    statement = (
        select(SavedView)
        .where(
            SavedView.set_name == set_page.set_name,
            or_(SavedView.owner_id == caller.user_id, SavedView.is_shared),
        )
        .order_by(SavedView.name, SavedView.id)
    )
    with read_engine().connect() as connection:
        rows = [dict(row) for row in connection.execute(statement).mappings()]
    return [
        {
            **row,
            "link": f"?{row['query']}&saved={row['id']}",
            "may_change": _may_change(row["owner_id"]),
        }
        for row in rows
    ]


def save_view(set_page: Page, name: str, query: str, *, shared: bool) -> int:
    """Keep a view of the caller; one of the same name is replaced. Returns its id.

    Raises: ValidationError; ForbiddenError, who leads no team shares none.
    """
    caller = current_caller()
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        raise ValidationError(
            [("name", translated("must have 1 to %(most)s letters", most=LONGEST_NAME))]
        )
    if shared and not allowed(caller, SHARES):
        raise ForbiddenError(
            translated("Views are shared by who has the right %(right)s.", right=SHARES)
        )
    query_string = urlencode(kept_query(query))
    if len(query_string) > SavedView.query.type.length:
        raise ValidationError([("name", translated("has too many conditions to be saved"))])
    own = select(SavedView.id, SavedView.name, SavedView.set_name).where(
        SavedView.owner_id == caller.user_id
    )
    views = records.connection().execute(own).all()
    values = {"query": query_string, "is_shared": shared, "updated_at": utc_now()}
    for row in views:
        if (row.name, row.set_name) == (name, set_page.set_name):
            records.update(SavedView, row.id, values)
            _tell("view.updated", row.id, {"name": name, **values})
            return int(row.id)
    if len(views) >= MOST_SAVED:
        raise ValidationError(
            [("name", translated("you have %(most)s views: delete one first", most=MOST_SAVED))]
        )
    key = records.insert(
        SavedView,
        {"created_at": utc_now(), "name": name, "set_name": set_page.set_name,
         "owner_id": caller.user_id, **values},
    )  # fmt: skip
    _tell("view.created", key, {"name": name, **values})
    return key


def delete_view(view_id: int) -> None:
    """Remove a view.

    Raises: NotFoundError, it is somebody else's and not shared; ForbiddenError.
    """
    view = records.read(SavedView, view_id)
    if view is None or not (view.is_shared or view.owner_id == current_caller().user_id):
        raise NotFoundError(translated("There is no such view."))
    if not _may_change(view.owner_id):
        raise ForbiddenError(translated("Only who saved a view deletes it."))
    records.delete(SavedView, view_id)
    _tell("view.deleted", view_id, {"name": view.name})


def _may_change(owner_id: int) -> bool:
    caller = current_caller()
    return owner_id == caller.user_id or allowed(caller, TIDIES)


def _tell(action: str, view_id: int, values: Mapping[str, Any]) -> None:
    view = {"name": values["name"], "shared": values.get("is_shared"), "query": values.get("query")}
    audit.record(action, "View", view_id, after={k: v for k, v in view.items() if v is not None})
