"""The address under which callers reach the service, for links in its answers.

``BASE_URL`` says it. Without one it is read from the request, and only from what nobody can choose
for others: a ``Host`` that names this machine or is an address in numbers. Any other name, and any
forwarding header, is left out of links (OWASP ASVS 4.1.3).
"""

from __future__ import annotations

import ipaddress
import socket
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlsplit


def service_root(environ: dict[str, Any], base_url: str | None) -> str:
    """``https://platform.example.com``, without a slash at the end."""
    if base_url:
        return base_url
    scheme: str = environ["wsgi.url_scheme"]
    host: str = environ.get("HTTP_HOST", "")
    if _is_ours(host):
        return f"{scheme}://{host}"
    port = environ.get("SERVER_PORT", "")
    return f"{scheme}://localhost" + (f":{port}" if port not in ("", "80", "443") else "")


@lru_cache(maxsize=256)
def _is_ours(host: str) -> bool:
    try:
        parts = urlsplit("//" + host)
        name, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.netloc != host or "@" in host or parts.path or parts.query or parts.fragment:
        return False
    if name == "localhost" or name.endswith(".localhost") or name == _name_of_this_machine():
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@cache
def _name_of_this_machine() -> str:
    return socket.gethostname().lower()
