"""The files of a language: its vocabulary, and how it is typed in a hurry."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vocabulary"
_PARTS = ("", "_typed")


@cache
def read_file(language: str) -> Mapping[str, Any]:
    """The data of a language."""
    texts = ((FOLDER / f"{language}{part}.toml").read_text(encoding="utf-8") for part in _PARTS)
    return {key: one for text in texts for key, one in tomllib.loads(text).items()}
