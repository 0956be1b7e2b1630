"""Data that stands beside the code that reads it, as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def data_beside(module: str, name: str) -> dict[str, Any]:
    """The data of a file beside a module, which gives its ``__file__``."""
    return tomllib.loads((Path(module).parent / name).read_text(encoding="utf-8"))
