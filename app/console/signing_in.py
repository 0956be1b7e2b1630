"""Signing in to the console and out of it, with the accounts of the service."""

from __future__ import annotations

from flask import Response, request
from flask_jwt_extended import decode_token

from app.auth.service import log_in, log_out
from app.console import session
from app.console.area import console, go_on, page, see_other
from app.console.language import translated
from app.console.session import unpacked
from app.errors import AccountLockedError, InvalidCredentialsError, ValidationError, refuse_any
from app.http.security import counted, public


@console.get("/sign-in")
@public
@counted("address")
def sign_in_page() -> Response:
    return page("sign_in.html", target=_target(request.args.get("next")))


@console.post("/sign-in")
@public
@counted("sign-in")
def sign_in() -> Response:
    """Open a session; the address to go on to is one of ours.

    Whoever signs in has no token yet; no other site may sign a browser in as somebody of its own.
    """
    session.check_site()
    target = _target(request.form.get("next"))
    packed_form = request.form.get("kept", "")
    username = request.form.get("username", "")[:200]
    password = request.form.get("password", "")[:1000]
    try:
        refuse_any(
            (name, translated("is required"))
            for name, text in (("username", username), ("password", password))
            if not text.strip()
        )
        pair = log_in(username, password)
    except (InvalidCredentialsError, AccountLockedError, ValidationError) as error:
        return page(
            "sign_in.html", error.status, target=target, problem=error, username=username,
            kept=packed_form,
        )  # fmt: skip
    claims = decode_token(pair.access_token)
    session.remember(int(claims["sub"]), claims["sid"])
    if fields := unpacked(packed_form):
        return go_on(target, fields, translated("You are signed in again."))
    return see_other(target)


@console.post("/sign-out")
def sign_out() -> Response:
    log_out()
    session.forget()
    return see_other(f"{session.ROOT}/sign-in")


def _target(target: str | None) -> str:
    """Where to go after signing in: below ``/admin``, or its first page."""
    if (
        target
        and target.startswith(f"{session.ROOT}/")
        and "\\" not in target
        and "//" not in target
    ):
        return target
    return f"{session.ROOT}/"
