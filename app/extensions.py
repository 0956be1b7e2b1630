"""Extensions, unbound: ``create_app`` binds them, so that two apps can live in one process."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from app.transactions import Transactions

# Every constraint has a name, so that a migration can drop it on both databases.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Model(DeclarativeBase):
    """Base of every mapped class."""

    metadata = MetaData(naming_convention=NAMING)


class Database(SQLAlchemy):
    """The engines of an application, and the running transaction (docs/adr/0111)."""

    session: Transactions  # type: ignore[assignment]  # without a unit of work

    def __init__(self) -> None:
        super().__init__(model_class=Model, disable_autonaming=True)
        self.session = Transactions(lambda: self.engine)


db = Database()
