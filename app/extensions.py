"""Extensions, unbound: ``create_app`` binds them, so that two apps can live in one process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from flask import Flask, current_app
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase, registry

from app.config import Config
from app.db.types import UtcDateTime

T = TypeVar("T")
_MISSING: Any = object()


class Extension(Generic[T]):
    """An object of which each application has its own, kept where Flask keeps those of extensions.

    The modules that use it import the one ``Extension``; only it knows the name (docs/adr/0044).
    """

    def __init__(self, name: str, make: Callable[[], T] | None = None) -> None:
        """``make`` makes the object where it is first asked for; else ``bind`` gives it."""
        self._name = name
        self._make = make

    def bind(self, app: Flask, value: T) -> None:
        """Give ``app`` its object, in place of the one it may have."""
        app.extensions[self._name] = value

    def unbind(self, app: Flask) -> T | None:
        """Take its object away from ``app``."""
        return cast(T | None, app.extensions.pop(self._name, None))

    def find(self, app: Flask) -> T | None:
        """The object of ``app``; None where it has none."""
        return cast(T | None, app.extensions.get(self._name))

    def of(self, app: Flask) -> T:
        """The object of ``app``.

        Raises: LookupError, it was not given one.
        """
        value = app.extensions.get(self._name, _MISSING)
        if value is not _MISSING:
            return cast(T, value)
        if self._make is None:
            raise LookupError(f"the application has no {self._name}")
        # Of several threads that come first at once all get the same.
        return cast(T, app.extensions.setdefault(self._name, self._make()))

    @property
    def current(self) -> T:
        """The object of the running application."""
        return self.of(current_app)


configuration = Extension[Config]("config")
# The bind of the engine that reads; the one that writes is the default.
READ = "read"


class Model(DeclarativeBase):
    """Base of every mapped class."""

    # Every constraint has a name, so that a migration can drop it on both databases.
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    registry = registry(metadata=metadata, type_annotation_map={datetime: UtcDateTime})


db = SQLAlchemy(model_class=Model, disable_autonaming=True)
