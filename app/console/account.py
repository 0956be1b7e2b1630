"""One's own account: name and language, password, and where one is signed in."""

from __future__ import annotations

from flask import Response, request

from app.auth import users
from app.auth.service import change_own_password
from app.auth.sessions import end_session, list_sessions
from app.console import session
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_asked, page_links
from app.console.language import SOURCE, languages, translated
from app.console.named_codes import LANGUAGE, code_name
from app.errors import ApiError, ValidationError
from app.http.security import current_caller
from app.written.locales import UNSAID

ADDRESS = f"{session.ROOT}/account"
# English as its account language says nothing, so that who wants it everywhere names a country.
_ENGLISH = ("en-GB", "en-US")


@console.get("/account")
def show_account(problem: ApiError | None = None) -> Response:
    """What one may change of one's own account, and one's open sessions."""
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
    """Change one's name and language."""
    name, language = request.form.get("displayName", "").strip(), request.form.get("language", "")
    if not name:
        raise ValidationError([("displayName", translated("is required"))])
    users.update_user(
        current_caller().user_id, {"display_name": name, "language": language or UNSAID}
    )
    return see_other(ADDRESS, translated("Saved."))


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
    return see_other(ADDRESS, translated("Password changed; your other sessions have ended."))


@console.post("/account/sessions/<key>/end")
def end_own_session(key: str) -> Response:
    """End one of one's own sessions."""
    end_session(key, "ended by its user", user_id=current_caller().user_id)
    return see_other(ADDRESS, translated("Session ended."))


def language_options(present: str) -> list[tuple[str, str]]:
    """The languages that an account may have: those of the pages, and the ``present`` one."""
    tags = [*(tag for tag in languages() if tag != SOURCE), *_ENGLISH]
    if present not in (UNSAID, *tags):
        tags.append(present)
    named = [(tag, f"{code_name(LANGUAGE, tag.partition('-')[0])} ({tag})") for tag in tags]
    return [(UNSAID, translated("as the browser asks")), *named]
