"""What is wrong with an address among the settings, in words that follow the variable's name.

Nothing of the address itself is told: it may hold a password, and where it is wrong nobody knows
which part of it. Nothing is loaded for it either, as a start that has nothing to prepare is quick.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MOST_PORT = 65_535
MOST_DIGITS = 18  # of a number among the settings
_DATABASE = (
    "must be postgresql://user:password@host:port/name or sqlite:////path/to/file,"
    " with %40, %3A and %2F for @, : and / in the password"
)
# As SQLAlchemy takes the rest of an address apart.
_SERVER = re.compile(
    r"(?:[^:/]*(?::[^@]*)?@)?(?:\[[^/?]+\]|[^/:?]*)(?::(?P<port>[^/?]*))?(?:/[^?]*)?(?:\?.*)?"
)
_SERVERS = ("postgres", "postgresql", "postgresql+psycopg")
_FILES = ("sqlite", "sqlite+pysqlite")
_REDIS = "must be redis://:password@host:port/number, rediss:// as well, or unix:///path"
_STORAGE = "must be file:///folder or s3://bucket/prefix"


def problem_of_database(url: str) -> str | None:
    """Why ``url`` is no database that the service works with; None: it may be one."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in _SERVERS:
        server = _SERVER.fullmatch(rest) if rest else None
        return None if server and _is_port(server["port"]) else _DATABASE
    path = rest.partition("?")[0]
    if separator and scheme in _FILES and len(path) > 1 and path[0] == "/" != path[-1]:
        return None if path != "/:memory:" else "must name a file: processes share no memory"
    return _DATABASE


def problem_of_redis(url: str) -> str | None:
    """Why ``url`` is no Redis; None: it may be one."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return _REDIS
    if parts.scheme == "unix":
        return None if parts.path else _REDIS
    number = parts.path.strip("/")
    is_one = parts.scheme in ("redis", "rediss") and (not number or is_number(number))
    return None if is_one and "://" in url else _REDIS


def problem_of_storage(url: str) -> str | None:
    """Why ``url`` is no place for files; None: it may be one."""
    scheme, separator, location = url.partition("://")
    if scheme == "memory" and separator:
        return None
    is_one = (scheme == "file" and location.startswith("/")) or (
        scheme == "s3" and location.partition("/")[0] != ""
    )
    return None if is_one else _STORAGE


def problem_of_web_address(url: str) -> str | None:
    """Why ``url`` is no address of a web server; None: it may be one."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_one = False
    return None if is_one else "must be http://host:port/path, or https://"


def problem_of_base_url(url: str) -> str | None:
    """Why links cannot begin with ``url``; None: they may."""
    if "?" in url or "#" in url:
        return "must end with its path: nothing from ? or # on"
    return problem_of_web_address(url)


def _is_port(text: str | None) -> bool:
    if not text:  # nothing, or nothing behind the colon: the usual one
        return True
    return is_number(text) and 0 < int(text) <= MOST_PORT


def is_number(text: str) -> bool:
    """Whether ``text`` is a whole number, in the digits that every other program reads as well."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
