"""What the terminal says when the service answers: where to go next."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

PASSWORD_FILE = "admin_password"


def banner(address: str, administrator: Administrator) -> str:
    """Address, console, page of the API, administrator, and a command to paste."""
    lines = [
        "",
        f"  The service      {address}",
        f"  For people       {address}/admin",
        f"  Try the API      {address}/docs",
        f"  Administrator    {administrator.username}",
        f"  Password         {_password(administrator)}",
        "",
        "  Log in and list clients:",
        "",
        curl_line(address, administrator),
        "",
        "  Ctrl-C stops everything; the data stays.",
        "",
    ]
    return "\n".join(lines)


def curl_line(address: str, administrator: Administrator) -> str:
    """One shell line that logs in and lists three clients, as it stands."""
    return (
        f"TOKEN=$(curl -s {address}/api/auth/login -H 'Content-Type: application/json'"
        f" -d {_credentials(administrator)}"
        """ | sed -E 's/.*"accessToken": ?"([^"]+)".*/\\1/');"""
        " curl -s -w '\\n' -H \"Authorization: Bearer $TOKEN\""
        f" '{address}/odata/Clients?$top=3&$select=id,name,status,revenue'"
    )


def _password(administrator: Administrator) -> str:
    where = administrator.password_file and f"in {_near(administrator.password_file)}"
    if administrator.password is None:
        return where or "the one that was chosen at the first start"
    return administrator.password + (f"  (kept {where})" if where else "")


def _credentials(administrator: Administrator) -> str:
    name = administrator.username
    if administrator.password is None:
        file = administrator.password_file
        secret = f"$(cat {shlex.quote(str(_near(file)))})" if file else "YOUR-PASSWORD"
        text = json.dumps({"username": name, "password": secret})
        return '"' + text.replace('"', '\\"') + '"'
    return shlex.quote(json.dumps({"username": name, "password": administrator.password}))


def _near(path: Path) -> Path:
    """``path`` as the reader would write it, from the folder the command was given in."""
    folder = Path.cwd()
    return path.relative_to(folder) if path.is_relative_to(folder) else path


@dataclass(frozen=True)
class Administrator:
    """The account of the first start; ``password`` is known only at the start that made it."""

    username: str
    password: str | None
    password_file: Path | None
