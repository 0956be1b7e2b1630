"""Credentials of a request: read from its headers, checked for their form, and whose they are.

That is asked in one statement, with the rights. The epoch is read by the same statement, so rights
and epoch are of one moment: what is remembered under that epoch was true in it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Engine, Select, bindparam, select

from app.auth.rights import ROLE, SERVICES, person_caller, service_caller
from app.clock import utc_now
from app.db.types import AnyRow
from app.errors import ApiKeyInvalidError, TokenMissingError, TokenRevokedError
from app.http.security import Caller
from app.models.user import ApiKey, Role, SecurityEpoch, Session, User, UserRole

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(r"bpk_live_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_PREFIX = "bpk_live_"
# A key is refused for its checksum before the database is asked; scanners find leaked ones by it.
_CHECKSUM_DIGITS = 6


class Credential(NamedTuple):
    """``secret`` is the access token or the API key."""

    kind: Literal["token", "key"]
    secret: str


def read_authorization(header: str, *, basic: bool) -> Credential:
    """The credential in an ``Authorization`` header.

    Args:
        basic: whether this address takes Basic, with an API key as the password.
    Raises: TokenMissingError, nothing that can be read is in it.
    """
    scheme, _, rest = header.strip().partition(" ")
    rest = rest.strip()
    match scheme.lower():
        case "bearer" if rest and " " not in rest and rest.isascii():
            return Credential("token", rest)
        case "basic" if basic:
            return Credential("key", _basic_password(rest))
    offered = "Bearer or Basic" if basic else "Bearer"
    raise TokenMissingError(f"The Authorization header cannot be read: {offered} is expected.")


def _basic_password(encoded: str) -> str:
    try:
        _, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, ValueError) as error:
        raise TokenMissingError("The Basic credentials cannot be read.") from error
    if not colon:
        raise TokenMissingError("The Basic credentials have no colon.")
    return password


class NewKey(NamedTuple):
    """A fresh API key: shown once, and its public prefix."""

    key: str
    prefix: str


def new_api_key() -> NewKey:
    """``bpk_live_`` + 8 public characters + ``_`` + 256 random bits + checksum, base 62."""
    prefix = _PREFIX + _base62(secrets.randbits(64), 8)
    body = f"{prefix}_{_base62(secrets.randbits(256), 43)}"
    return NewKey(body + _checksum(body), prefix)


def check_api_key_form(key: str) -> None:
    """Refuse what cannot be a key of ours.

    Raises: ApiKeyInvalidError, wrong form or checksum.
    """
    if not _KEY.fullmatch(key) or _checksum(key[:-_CHECKSUM_DIGITS]) != key[-_CHECKSUM_DIGITS:]:
        raise ApiKeyInvalidError("The API key is not valid.")


def _checksum(text: str) -> str:
    return _base62(zlib.crc32(text.encode()), _CHECKSUM_DIGITS)


def _base62(number: int, length: int) -> str:
    """The last ``length`` digits; 43 of them hold 256 bits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


_epoch = select(SecurityEpoch.value).where(SecurityEpoch.id == 1).scalar_subquery()
_SESSION: Select[Any] = (
    select(
        _epoch.label("epoch"), User.id, User.username, User.status, Session.revoked_at,
        Session.expires_at, *ROLE,
    )
    .select_from(Session)
    .join(User, User.id == Session.user_id)
    .outerjoin(UserRole, UserRole.user_id == User.id)
    .outerjoin(Role, Role.id == UserRole.role_id)
    .where(Session.key == bindparam("key"))
    .order_by(Role.id)
)  # fmt: skip
_API_KEY = SERVICES.add_columns(_epoch.label("epoch")).where(ApiKey.key_hash == bindparam("hash"))


@dataclass(frozen=True, slots=True)
class VerifiedCaller:
    """A caller whose rights hold while the security epoch is ``epoch``, and until ``expires``.

    ``expires`` is in seconds since 1970. ``by_basic``: by the user name and password of a Basic
    header.
    """

    caller: Caller
    epoch: int
    expires: float
    by_basic: bool = False


def find_by_session(engine: Engine, user_id: int, session_key: str) -> VerifiedCaller:
    """The person of a session.

    Raises: TokenRevokedError, the session has ended or the account may not sign in.
    """
    with engine.connect() as connection:
        rows = connection.execute(_SESSION, {"key": session_key}).all()
    if not rows or rows[0].id != user_id or not _session_lives(rows[0]):
        raise TokenRevokedError("The session has ended: sign in again.")
    roles = [row for row in rows if row.name is not None]
    caller = person_caller(user_id, rows[0].username, roles, session_key)
    return VerifiedCaller(caller, rows[0].epoch, rows[0].expires_at.timestamp())


def find_by_api_key(engine: Engine, key: str) -> VerifiedCaller:
    """The account of an API key: its role's rights, narrowed by its scopes.

    Raises: ApiKeyInvalidError, unknown, expired or revoked.
    """
    with engine.connect() as connection:
        row = connection.execute(_API_KEY, {"hash": hash_api_key(key)}).first()
    if row is None or row.revoked_at is not None or row.status != "active" or _past(row.expires_at):
        raise ApiKeyInvalidError("The API key is not valid.")
    expires = row.expires_at.timestamp() if row.expires_at else float("inf")
    return VerifiedCaller(service_caller(row), row.epoch, expires)


def hash_api_key(key: str) -> str:
    """What is kept of a key: it has 256 random bits, so a quick digest is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def _session_lives(row: AnyRow) -> bool:
    return row.revoked_at is None and row.status == "active" and not _past(row.expires_at)


def _past(instant: datetime | None) -> bool:
    return instant is not None and instant <= utc_now()
