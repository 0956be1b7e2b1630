"""What a query may become once every name in it stands for its expression (docs/adr/0019).

The parser limits the text of each option. A name that is used twice is two expressions in SQL, and
a name of such a name four; so what is made of the names is counted too, before any of it is
written.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement

from app.odata.cursor import DEFAULT_LIMITS
from app.odata.errors import QueryError
from app.odata.sql.estimated_size import estimated_size

# A part of the text is several of the SQL: a decimal column in a sum is eight on SQLite.
_PARTS_OF_ONE = 4
# Two levels of everything that is related to any entity of the business.
_EXPANSIONS = 100


@dataclass
class Budget:
    """The parts that one query may still have; ``nodes`` is the limit for the text of an option.

    One expression may weigh four times as much, and all uses of names together eight times;
    ``expansions`` is the number of navigation properties that may still be expanded.
    """

    nodes: int = DEFAULT_LIMITS.nodes
    expansions: int = _EXPANSIONS
    _named: int = 0
    _visited: int = 0

    def check(self, sql: ColumnElement[object], offset: int) -> None:
        """Raise QueryError if an expression is too great with its names written out."""
        if estimated_size(sql) > _PARTS_OF_ONE * self.nodes:
            raise self._refusal(_PARTS_OF_ONE, offset)

    def use(self, parts: int, offset: int) -> None:
        """Count what a name stands for where it is used.

        Raises: QueryError, the names of the query stand for too much.
        """
        self._named += parts
        if self._named > 2 * _PARTS_OF_ONE * self.nodes:
            raise self._refusal(2 * _PARTS_OF_ONE, offset)

    def visit(self, offset: int) -> None:
        """Count a look at a node, some of which are looked at more than once."""
        self._visited += 1
        if self._visited > 20 * self.nodes:
            raise self._refusal(20, offset)

    def expand(self, offset: int) -> None:
        """Count a navigation property that is expanded; ``*`` stands for many of them."""
        self.expansions -= 1
        if self.expansions < 0:
            raise self.too_wide(offset)

    def too_wide(self, offset: int) -> QueryError:
        return QueryError(
            f"a query expands at most {_EXPANSIONS} navigation properties, those that '*' stands"
            " for included",
            offset,
        )

    def _refusal(self, times: int, offset: int) -> QueryError:
        most = times * self.nodes
        return QueryError(
            f"with every name written out the expression has more than {most} parts", offset
        )
