"""Tables declared as classes, whose attributes are the columns (docs/adr/0171).

No object is made of a row here, so a web process does without SQLAlchemy's mappers and what they
keep of every column. To the type checker the classes are SQLAlchemy's own declarative ones, which
know the type of each column; what is declared reads the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["DeclaredTable", "Mapped", "MappedColumn", "declared_attr", "mapped_column"]

if TYPE_CHECKING:
    from sqlalchemy.orm import (
        DeclarativeBase as DeclaredTable,
        Mapped,
        MappedColumn,
        declared_attr,
        mapped_column,
    )
else:
    from sqlalchemy import Column, Table

    Mapped = MappedColumn = mapped_column = Column

    class declared_attr:
        """An attribute that each class below gets one of its own of, from the function."""

        def __init__(self, make):
            self.make = make

        def __get__(self, _, owner):
            return self.make(owner)

        directive = classmethod(lambda cls, make: cls(make))

    class DeclaredTable:
        """Base of such classes; the one directly below it has the ``metadata``."""

        def __init_subclass__(cls, **options):
            super().__init_subclass__(**options)
            if "__tablename__" not in cls.__dict__:
                return
            columns = _columns(cls)
            for name, column in columns.items():
                column.name = column.key = name
                setattr(cls, name, column)
            more = list(getattr(cls, "__table_args__", ()))
            facts = more.pop() if more and isinstance(more[-1], dict) else {}
            cls.__table__ = Table(
                cls.__tablename__, cls.metadata, *columns.values(), *more, **facts
            )

        @classmethod
        def __clause_element__(cls):
            """What the class is in a statement: ``select(Client)``, ``join(Client, ...)``."""
            return cls.__table__

    def _columns(cls):
        """The columns by their names: those of the class, then those it shares with others."""
        found = {}
        for place in cls.__mro__:
            for name, value in vars(place).items():
                made = value.__get__(None, cls) if isinstance(value, declared_attr) else value
                if isinstance(made, Column):
                    found.setdefault(name, made)
        return found
