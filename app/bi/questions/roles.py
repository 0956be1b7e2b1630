"""What words do in a question whatever it is about, as ``roles.toml`` says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from app.localisation.data_files import data_beside


@lru_cache(maxsize=1)
def roles_data() -> Mapping[str, Mapping[str, Any]]:
    """The file."""
    return data_beside(__file__, "roles.toml")


@lru_cache(maxsize=64)
def roles(*groups: str) -> frozenset[str]:
    """The roles of some groups by their names."""
    return frozenset(role for group in groups for role in roles_data()["groups"][group])


@lru_cache(maxsize=64)
def words(*groups: str) -> frozenset[str]:
    """The same as categories of words: ``f:most``."""
    return frozenset(f"f:{role}" for role in roles(*groups))


def goes_down(role: str) -> bool:
    """Whether a superlative, or an order, is from the largest or the newest on."""
    return bool(roles_data()["descending"][role])
