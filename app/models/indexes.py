"""Index columns whose nulls lie where the API's lists want them: first when ascending."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import NullType


class nulls_first(ColumnElement[Any]):  # reads as a function, as in SQLAlchemy
    """The nullable column ``name`` of an index, nulls first.

    SQLite keeps them so anyway and PostgreSQL last; without this, its index would not serve
    ``ORDER BY x ASC NULLS FIRST``, which is OData's order (Protocol 11.2.6.2).
    """

    inherit_cache = False
    type = NullType()

    def __init__(self, name: str) -> None:
        self.name = name


@compiles(nulls_first)
def _plain(element: nulls_first, compiler: Any, **options: Any) -> str:
    return str(compiler.preparer.quote(element.name))


@compiles(nulls_first, "postgresql")
def _with_order(element: nulls_first, compiler: Any, **options: Any) -> str:
    return f"{compiler.preparer.quote(element.name)} NULLS FIRST"
