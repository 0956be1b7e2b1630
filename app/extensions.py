"""Extensions, unbound: ``create_app`` binds them, so that two apps can live in one process."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

# The bind of the engine that reads; the one that writes is the default.
READ = "read"


class Base(DeclarativeBase):
    """What the tables have in common."""

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


db = SQLAlchemy(model_class=Base, disable_autonaming=True)


class Model(db.Model):  # type: ignore[name-defined, misc]  # made by the extension when it runs
    """Base of every mapped class."""

    __abstract__ = True
