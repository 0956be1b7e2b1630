"""Long chains of an associative operator as trees that are wide instead of deep."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

Operand = t.TypeVar("Operand")


def balance(
    operands: Sequence[Operand],
    offsets: Sequence[int],
    join: t.Callable[[Operand, Operand, int], Operand],
) -> Operand:
    """``a op b op c op d`` as ``(a op b) op (c op d)``; up to three operands it is left to right.

    A chain of 250 terms becomes 8 levels deep, so that no walk of the tree overflows the stack.
    Args:
        operands: at least one.
        offsets: of the operators between them.
        join: makes a node of two operands and the offset of the operator between them.
    """
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    left = balance(operands[:middle], offsets[: middle - 1], join)
    right = balance(operands[middle:], offsets[middle:], join)
    return join(left, right, offsets[middle - 1])
