"""Who is signed in to the console: a session of the service, named in a signed cookie.

The cookie holds the key of the session and nothing that opens an API: it goes to ``/admin`` only.
Ending the session anywhere ends it here with the next request.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Flask, Request, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from app.auth.authentication import TicketReader, authenticator
from app.config import Config
from app.console.language import translated
from app.errors import ForbiddenError
from app.sealing import derived_keys

ROOT = "/admin"
_USER, _KEY, _SAID = "user", "key", "said"
TOKEN = "csrf"


def init_app(app: Flask, config: Config) -> None:
    """Cookies that scripts cannot read and other sites cannot send."""
    # Keys that sign nothing else; cookies signed with an earlier one are still read.
    app.secret_key, *earlier = (key.secret for key in derived_keys(config, "console-cookie"))
    app.session_interface = SignedCookies()
    app.config.update(
        SECRET_KEY_FALLBACKS=earlier,
        SESSION_COOKIE_NAME="console",
        SESSION_COOKIE_PATH=ROOT,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=config.PRODUCTION,
    )
    checks = authenticator.of(app)
    checks.read_ticket = _or_cookie(checks.read_ticket)


class OutdatedFormError(ForbiddenError):
    """A form of ours that was made before the session that it comes with."""


class SignedCookies(SecureCookieSessionInterface):
    """Cookies for the pages of the console; the API neither reads nor sets any."""

    digest_method = staticmethod(hashlib.sha256)

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session of a page; None elsewhere, and nothing is computed for it."""
        if request.environ["PATH_INFO"].startswith(ROOT):
            return super().open_session(app, request)
        return None


def remember(user_id: int, session_key: str) -> None:
    """Sign the browser in; what it held before is forgotten, so that no cookie can be planted."""
    session.clear()
    session[_USER], session[_KEY] = user_id, session_key
    session[TOKEN] = secrets.token_urlsafe(24)


def forget() -> None:
    session.clear()


def form_token() -> str:
    """What each form sends along, to show that it came from a page of ours."""
    token: str = session.setdefault(TOKEN, secrets.token_urlsafe(24))
    return token


def say(text: str) -> None:
    """What the next page tells, once: that the thing was done."""
    session[_SAID] = text


def take_said() -> str:
    """What the page before has left to tell; empty where it left nothing."""
    message: str = session.pop(_SAID, "") if _SAID in session else ""
    return message


def check_site() -> None:
    """Refuse what a browser says that another site has sent.

    Raises: ForbiddenError.
    """
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise ForbiddenError(translated("This form was sent from another site."))


def check_token(token: str) -> None:
    """Refuse a form with another token than that of this browser, or from another site.

    Raises: ForbiddenError.
    """
    check_site()
    known = session.get(TOKEN)
    if not known or not hmac.compare_digest(token.encode(), known.encode()):
        raise OutdatedFormError(translated("This form is out of date: load the page again."))


def _or_cookie(other: TicketReader) -> TicketReader:
    def read(environ: Mapping[str, Any]) -> tuple[int, str] | None:
        if not environ["PATH_INFO"].startswith(ROOT):
            return other(environ)
        user, key = session.get(_USER), session.get(_KEY)
        return (user, key) if isinstance(user, int) and isinstance(key, str) else None

    return read


# --- forms that came when the session had ended: they go on after signing in

# More than this is not carried through the page of signing in.
_MOST_BYTES = 2_000_000
_URLENCODED = "application/x-www-form-urlencoded"
_FORMS = ("/new", "/edit")

Fields = Sequence[tuple[str, str]]


def typed_fields() -> Fields:
    """The fields of the form that was sent; none that is secret, and none of too large a form."""
    if request.method != "POST" or request.mimetype != _URLENCODED:
        return []
    if (request.content_length or 0) > _MOST_BYTES:
        return []
    return [
        (name, text)
        for name, text in request.form.items(multi=True)
        if name != TOKEN and "password" not in name.lower()
    ]


def packed(fields: Fields) -> str:
    """Fields as the page of signing in carries them."""
    return json.dumps(list(fields)) if fields else ""


def unpacked(text: str) -> Fields:
    """Fields that the page of signing in has carried; none where they are none of ours."""
    try:
        fields = json.loads(text or "[]")
        return [(str(name), str(value)) for name, value in fields]
    except (ValueError, TypeError):
        return []


def is_form(target: str) -> bool:
    """Whether an address shows the form again that was sent to it."""
    return target.endswith(_FORMS)
