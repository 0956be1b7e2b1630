"""Accounts: one's own, with its password and sessions; those of all users, and their sessions."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from flask import Response, request
from sqlalchemy import select

from app.auth import users
from app.auth.lockout import locks_of
from app.auth.service import change_own_password
from app.auth.sessions import end_session, list_sessions
from app.auth.users import get_user_dict, user_dicts
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links, page_rows
from app.console.language import SOURCE, languages, marked, translated
from app.console.named_codes import LANGUAGE, code_name
from app.console.typed import key_in
from app.db.engines import primary_engine
from app.errors import ApiError, InvalidStateError, ValidationError
from app.http.page_sizes import CONSOLE_WHOLE
from app.http.security import current_caller, requires
from app.localisation.numbers import UNSAID
from app.models.user import Role, User

ACCOUNT = f"{session.ROOT}/account"
# English as its account language says nothing, so that who wants it everywhere names a country.
_ENGLISH = ("en-GB", "en-US")


@console.get("/account")
def show_account(problem: ApiError | None = None) -> Response:
    person = users.get_user_dict(current_caller().user_id)
    sessions = list_sessions(person["id"], **page_asked())
    return page(
        "account.html",
        person=person,
        typed=request.form if "displayName" in request.form else person,
        languages=language_options(person["language"]),
        sessions=sessions["items"],
        links=page_links(sessions["total"]),
        problem=problem,
    )


@console.post("/account")
@refused_on(show_account)
def change_account() -> Response:
    name, language = request.form.get("displayName", "").strip(), request.form.get("language", "")
    if not name:
        raise ValidationError([("displayName", translated("is required"))])
    users.update_user(
        current_caller().user_id, {"display_name": name, "language": language or UNSAID}
    )
    return see_other(ACCOUNT, translated("Saved."))


PASSWORDS = ("currentPassword", "newPassword", "repeated")


@console.post("/account/password")
@refused_on(show_account)
def change_password() -> Response:
    """Set another password; one's other sessions end."""
    typed = [request.form.get(name, "") for name in PASSWORDS]
    missing = [name for name, text in zip(PASSWORDS, typed, strict=True) if not text]
    if missing:
        raise ValidationError([(name, translated("is required")) for name in missing])
    current, new, repeated = typed
    if new != repeated:
        raise ValidationError([("repeated", translated("is not the same password"))])
    change_own_password(current, new)
    return see_other(ACCOUNT, translated("Password changed; your other sessions have ended."))


@console.post("/account/sessions/<key>/end")
def end_own_session(key: str) -> Response:
    end_session(key, "ended by its user", user_id=current_caller().user_id)
    return see_other(ACCOUNT, translated("Session ended."))


def language_options(present: str) -> list[tuple[str, str]]:
    """The languages that an account may have: those of the pages, and the ``present`` one."""
    tags = [*(tag for tag in languages() if tag != SOURCE), *_ENGLISH]
    if present not in (UNSAID, *tags):
        tags.append(present)
    named = [(tag, f"{code_name(LANGUAGE, tag.partition('-')[0])} ({tag})") for tag in tags]
    return [(UNSAID, translated("as the browser asks")), *named]


_STATUS_SAID = {"active": marked("User enabled."), "disabled": marked("User disabled.")}


@console.get("/users")
@requires("users:manage")
def show_users(**values: Any) -> Response:
    with primary_engine().connect() as connection:
        rows = connection.execute(
            select(User)
            .where(User.kind == "person")
            .order_by(User.username_key)
            .limit(CONSOLE_WHOLE)
        ).all()
        people = user_dicts(connection, rows)
        locks = locks_of(connection, [person["username"] for person in people])
        roles = connection.execute(select(Role.name).order_by(Role.id)).scalars().all()
    return page(
        "users.html",
        people=people,
        locks=locks,
        roles=roles,
        chosen=request.form,
        **values,
    )


@console.post("/users")
@requires("users:manage")
@refused_on(show_users)
def make_user() -> Response:
    form = request.form
    users.create_user(
        username=form.get("username", ""),
        email=form.get("email", "") or None,
        display_name=form.get("displayName", "") or form.get("username", ""),
        password=form.get("password", ""),
        roles=form.getlist("roles"),
    )
    message = translated("User %(name)s created.", name=form.get("username", ""))
    return see_other(f"{session.ROOT}/users", message)


@console.get("/users/<int:user_id>")
@requires("users:manage")
def show_user(user_id: int, problem: ApiError | None = None, **values: Any) -> Response:
    person = get_user_dict(user_id)
    with primary_engine().connect() as connection:
        locks = locks_of(connection, [person["username"]])
        roles = connection.execute(select(Role.name).order_by(Role.id)).scalars().all()
    is_typed = problem is not None and "displayName" in request.form
    return page(
        "user.html",
        person=person,
        locks=locks,
        typed=request.form if is_typed else person,
        held=request.form.getlist("roles") if is_typed else person["roles"],
        roles=roles,
        languages=language_options(person["language"]),
        zones=sorted(available_timezones()),
        sessions=list_sessions(user_id, limit=page_rows(), offset=0)["items"],
        problem=problem,
        **values,
    )


@console.post("/users/<int:user_id>")
@requires("users:manage")
@refused_on(lambda **values: _shown_at(**values))
def act_on_user(user_id: int) -> Response:
    """Do what a button says, on the list or on the page of the account."""
    step = request.form.get("step", "")
    if step in _STATUS_SAID:
        users.update_user(user_id, {"status": step})
        message = translated(_STATUS_SAID[step])
    elif step == "unlock":
        users.unlock_user(user_id)
        message = translated("User unlocked.")
    elif step == "reset":
        return _shown_at(user_id, password=users.reset_password(user_id, None))
    else:
        raise InvalidStateError(translated("This step is not known."))
    path = f"/{user_id}" if request.form.get("page") else ""
    return see_other(f"{session.ROOT}/users{path}", message)


@console.post("/users/<int:user_id>/change")
@requires("users:manage")
@refused_on(show_user)
def change_user(user_id: int) -> Response:
    form = request.form
    names = (("display_name", "displayName"), ("language", "language"), ("timezone", "timezone"))
    known = {name: text for name, field in names if (text := form.get(field, "").strip()[:200])}
    if not (roles := form.getlist("roles")):
        raise ValidationError([("roles", translated("Choose one role or more."))])
    email = form.get("email", "").strip() or None
    users.update_user(user_id, {**known, "email": email, "roles": roles})
    return see_other(f"{session.ROOT}/users/{user_id}", translated("Saved."))


@console.get("/sessions")
@requires("users:manage")
def show_sessions() -> Response:
    sessions = list_sessions(None, **page_asked())
    return page("sessions.html", sessions=sessions["items"], links=page_links(sessions["total"]))


@console.post("/sessions/<key>/end")
@requires("users:manage")
def end_one_session(key: str) -> Response:
    end_session(key, "ended by an administrator")
    owner = key_in(request.form.get("user", ""))
    back = "sessions" if owner is None else f"users/{owner}"
    return see_other(f"{session.ROOT}/{back}", translated("Session ended."))


def _shown_at(user_id: int, **values: Any) -> Response:
    """The page on which a button was pressed."""
    return show_user(user_id, **values) if request.form.get("page") else show_users(**values)
