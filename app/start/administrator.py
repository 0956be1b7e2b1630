"""Who may sign in first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PASSWORD_FILE = "admin_password"


@dataclass(frozen=True)
class Administrator:
    """The account of the first start; ``password`` is known only at the start that made it."""

    username: str
    password: str | None
    password_file: Path | None
