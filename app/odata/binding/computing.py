"""``$compute``: values with a name of their own (Protocol 11.2.5.3)."""

from __future__ import annotations

from collections.abc import Sequence

from app.odata.binding.translator import Translator
from app.odata.errors import QueryError
from app.odata.sql.estimated_size import estimated_size
from app.odata.syntax.nodes import ComputeItem


def compute(translator: Translator, items: Sequence[ComputeItem]) -> None:
    """Give the rows of the translator's scope the values; a later one may use an earlier one.

    Raises: QueryError, the name is taken.
    """
    scope = translator.scope
    for item in items:
        taken = item.alias in scope.computed or item.alias in scope.nested
        if taken or item.alias.lower() in scope.type.folded:
            raise QueryError(f"{scope.type.name} has a property {item.alias} already", item.offset)
        value = scope.computed[item.alias] = translator.typed(item.expression)
        scope.context.budget.use(estimated_size(value.sql), item.offset)  # it may be shown as well
