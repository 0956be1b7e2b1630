"""Users: made, disabled and enabled, unlocked, given another password."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from sqlalchemy import select

from app.auth import users
from app.auth.user_shapes import user_dicts
from app.console import session
from app.console.area import console, page, see_other
from app.database import primary_engine
from app.errors import ApiError, InvalidStateError
from app.models.user import Role, User
from app.security import requires

_USERS: Any = User.__table__
SHOWN = 500


@console.get("/users")
@requires("users:manage")
def show_users() -> Response:
    """The people who may sign in."""
    return _page()


@console.post("/users")
@requires("users:manage")
def make_user() -> Response:
    """Make an account."""
    session.check_form()
    form = request.form
    try:
        users.create_user(
            username=form.get("username", ""),
            email=form.get("email", "") or None,
            display_name=form.get("displayName", "") or form.get("username", ""),
            password=form.get("password", ""),
            roles=form.getlist("roles"),
        )
    except ApiError as error:
        return _page(problem=error)
    return see_other(f"{session.ROOT}/users")


@console.post("/users/<int:user_id>")
@requires("users:manage")
def act_on_user(user_id: int) -> Response:
    """Do what a button of the list says."""
    session.check_form()
    step = request.form.get("step", "")
    try:
        if step in ("active", "disabled"):
            users.update_user(user_id, {"status": step})
        elif step == "unlock":
            users.unlock_user(user_id)
        elif step == "reset":
            return _page(password=users.reset_password(user_id, None), of=user_id)
        else:
            raise InvalidStateError("This step is not known.")
    except ApiError as error:
        return _page(problem=error)
    return see_other(f"{session.ROOT}/users")


def _page(**values: Any) -> Response:
    with primary_engine().connect() as connection:
        rows = connection.execute(
            select(_USERS)
            .where(_USERS.c.kind == "person")
            .order_by(_USERS.c.username_key)
            .limit(SHOWN)
        ).all()
        people = user_dicts(connection, rows)
        roles = connection.execute(select(Role.name).order_by(Role.id)).scalars().all()
    problem = values.get("problem")
    return page(
        "users.html",
        200 if problem is None else problem.status,
        people=people,
        roles=roles,
        chosen=request.form,
        **values,
    )
