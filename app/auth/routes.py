"""``/api/auth``: signing in and out, oneself, one's password and sessions."""

from __future__ import annotations

from typing import Any

from app.auth import schemas, service, sessions
from app.auth.sessions import TokenPair
from app.auth.tokens import LIFETIME_SECONDS
from app.http.areas import Area, reads_body
from app.http.request_context import current_exchange
from app.http.schema_parts import PageQuerySchema, page_schema
from app.http.security import counted, current_caller, public

area = Area("auth", __name__, description="Signing in: tokens, sessions, one's own account")


@area.post("/login")
@area.arguments(schemas.LoginSchema)
@area.response(200, schemas.TokenPairSchema)
@public
@counted("sign-in")
def log_in(credentials: dict[str, str]) -> dict[str, Any]:
    """Sign in with name and password.

    Five failures within 15 minutes lock the name: 423 with `Retry-After`, also for the right
    password.
    """
    return _token_shape(service.log_in(**credentials))


@area.post("/refresh")
@area.arguments(schemas.RefreshSchema)
@area.response(200, schemas.TokenPairSchema)
@public
@counted("sign-in")
def refresh_session(body: dict[str, str]) -> dict[str, Any]:
    """Exchange a refresh token for a new pair.

    Each is good for one exchange; within ten seconds the same one answers with the same pair.
    Used again later it ends the session.
    """
    return _token_shape(sessions.refresh_session(body["refresh_token"]))


@area.post("/logout")
@area.response(204)
@reads_body  # clients send their refresh token along: the session ends whatever is in it
def log_out() -> None:
    """End the session of this access token, at once and everywhere."""
    service.log_out()


@area.get("/me")
@area.response(200, schemas.CallerSchema)
def describe_caller() -> dict[str, Any]:
    """The caller, with what they may do now."""
    return service.describe_caller(current_exchange().credential_expires)


@area.post("/password")
@area.arguments(schemas.PasswordChangeSchema)
@area.response(204)
def change_own_password(passwords: dict[str, str]) -> None:
    """Change one's own password; one's other sessions end."""
    service.change_own_password(**passwords)


@area.get("/sessions")
@area.arguments(PageQuerySchema, location="query")
@area.response(200, page_schema(schemas.SessionSchema))
def list_sessions(page: dict[str, int]) -> dict[str, Any]:
    """One's own open sessions."""
    return sessions.list_sessions(current_caller().user_id, **page)


@area.delete("/sessions/<session_id>")
@area.response(204)
def end_session(session_id: str) -> None:
    """End one of one's own sessions."""
    sessions.end_session(session_id, "ended by its user", user_id=current_caller().user_id)


def _token_shape(pair: TokenPair) -> dict[str, Any]:
    return {
        "access_token": pair.access_token,
        "refresh_token": pair.refresh_token,
        "expires_in": LIFETIME_SECONDS,
        "token_type": "Bearer",
    }
