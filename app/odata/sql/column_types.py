"""The column type of Edm.Guid, which SQLite does not have.

Like those of app/db/types.py it gives back the same on SQLite and PostgreSQL, to the byte.
"""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import Dialect, String, Uuid
from sqlalchemy.types import TypeDecorator, TypeEngine


class Guid(TypeDecorator[uuid.UUID]):
    """Edm.Guid: UUID, or on SQLite its text in lower case with dashes; both sort alike."""

    impl = Uuid
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(String(36))
        return dialect.type_descriptor(Uuid())

    def process_bind_param(self, value: uuid.UUID | None, dialect: Dialect) -> Any:
        return str(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> uuid.UUID | None:
        return uuid.UUID(value) if isinstance(value, str) else value
