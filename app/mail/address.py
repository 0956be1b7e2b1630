"""Where mail goes: the setting MAIL_URL, and addresses as mail servers want them."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import idna

from app.config import ConfigError
from app.extensions import Extension

_PORTS = {"smtp": 25, "smtps": 465}
STARTTLS = ("required", "offered", "never")


@dataclass(frozen=True)
class MailServer:
    """A mail server. ``starttls``: refuse to go on without, take it where offered, or never."""

    host: str
    port: int
    username: str | None = None
    password: str | None = None
    is_tls: bool = False
    starttls: str = "offered"

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, where nobody listens in."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


mail_target: Extension[MailServer | Path] = Extension("mail")


def parse_mail_url(url: str) -> MailServer | Path:
    """The server of ``smtp://user:password@host:587?starttls=required`` or ``smtps://host``; the
    folder of ``file:///folder``.

    Raises: ConfigError, naming what is wrong, but no password.
    """
    scheme, separator, rest = url.partition("://")
    if scheme == "file" and separator and rest.startswith("/"):
        return Path(rest)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if scheme not in _PORTS or not host:
        raise ConfigError("MAIL_URL must be smtp://host:port, smtps://host:port or file:///folder")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    starttls = options.pop("starttls", "offered")
    if options or starttls not in STARTTLS:
        raise ConfigError(f"MAIL_URL knows the option starttls={'|'.join(STARTTLS)} and no other")
    return MailServer(
        host=host,
        port=port or _PORTS[scheme],
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password or "") if parts.username else None,
        is_tls=scheme == "smtps",
        starttls=starttls,
    )


def server_form(address: str) -> str:
    """An address with its domain in ASCII; a name before the @ in other letters stays as it is."""
    local, _, domain = address.rpartition("@")
    if domain.isascii():
        return address
    return f"{local}@{idna.encode(domain, uts46=True).decode()}"


def find_server_form(address: str) -> str | None:
    """``server_form``, or None where no command of a mail server can name the address."""
    try:
        form = server_form(address)
    except UnicodeError:  # no name that the DNS knows
        return None
    return form if form.isprintable() and "@" in form else None
