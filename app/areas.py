"""An area of the REST API: flask-smorest's Blueprint, with our errors for a bad body."""

from __future__ import annotations

from typing import Any

from flask_smorest import Blueprint


class Area(Blueprint):
    """A blueprint whose ``name`` is its path: ``crm`` answers under ``/api/v1/crm``."""

    def __init__(self, name: str, import_name: str, **options: Any) -> None:
        super().__init__(name, import_name, **options)
