"""Syntax trees of expressions back to text that parses to an equal tree."""

from __future__ import annotations

import json
import typing as t
from collections.abc import Callable, Iterable
from functools import singledispatch

from app.odata.syntax.balance import balance
from app.odata.syntax.literal_text import literal_text
from app.odata.syntax.nodes import (
    Alias,
    Annotation,
    Argument,
    Binary,
    BoundCall,
    Call,
    Case,
    Collection,
    ComputeItem,
    Count,
    FilterSegment,
    In,
    It,
    JsonObject,
    KeyPredicate,
    Lambda,
    Literal,
    Member,
    Node,
    OrderItem,
    Root,
    SearchAnd,
    SearchNode,
    SearchNot,
    SearchOr,
    SearchPhrase,
    SearchTerm,
    These,
    This,
    TypeCast,
    TypeName,
    Unary,
)

# How tightly an expression holds together: what is looser than its place gets parentheses.
_LEVELS: t.Final = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("eq", "ne"), 3),
    **dict.fromkeys(("gt", "ge", "lt", "le"), 4),
    **dict.fromkeys(("add", "sub"), 5),
    **dict.fromkeys(("mul", "div", "divby", "mod"), 6),
    "has": 8,
}
_UNARY: t.Final = 7
_MEMBERSHIP: t.Final = 8
_PRIMARY: t.Final = 9
_Chain: t.TypeAlias = SearchAnd | SearchOr | Binary


@singledispatch
def to_text(node: Node) -> str:
    """The text of ``node``; slots are given anew when it is parsed."""
    raise NotImplementedError(type(node).__name__)


def joined(nodes: Iterable[Node], separator: str = ",") -> str:
    return separator.join(map(to_text, nodes))


def _level(node: Node) -> int:
    if isinstance(node, Binary):
        return _LEVELS[node.op]
    if isinstance(node, Unary):
        return _UNARY
    return _MEMBERSHIP if isinstance(node, In) else _PRIMARY


def _at_least(level: int, node: Node) -> str:
    return to_text(node) if _level(node) >= level else f"({to_text(node)})"


def _chain(node: _Chain, goes_on: Callable[[Node], bool]) -> list[t.Any] | None:
    """The operands of a chain of one operator, or None unless the parser would join them so."""
    operands: list[Node] = []
    waiting: list[Node] = [node]
    while waiting:
        operand = waiting.pop()
        if goes_on(operand):
            chain = t.cast(_Chain, operand)
            waiting += [chain.right, chain.left]
        else:
            operands.append(operand)
    offsets = [0] * (len(operands) - 1)
    rebuilt = balance(operands, offsets, lambda left, right, _: _like(node, left, right))
    return operands if rebuilt == node else None


def _like(node: _Chain, left: t.Any, right: t.Any) -> Node:
    return Binary(node.op, left, right) if isinstance(node, Binary) else type(node)(left, right)


# --- operators


@to_text.register
def _(node: Binary) -> str:
    level = _LEVELS[node.op]
    if node.op in ("and", "or"):
        operands = _chain(node, lambda part: isinstance(part, Binary) and part.op == node.op)
        parts = operands or [node.left, node.right]
        return f" {node.op} ".join(_at_least(level + 1, part) for part in parts)
    return f"{_at_least(level, node.left)} {node.op} {_at_least(level + 1, node.right)}"


@to_text.register
def _(node: Unary) -> str:
    if node.op == "not":
        return "not " + _at_least(_UNARY, node.operand)
    return f"-({to_text(node.operand)})"  # -5 would be a literal


@to_text.register
def _(node: In) -> str:
    left = _at_least(_MEMBERSHIP, node.left)
    right = node.right
    if isinstance(right, Collection) and all(isinstance(item, Literal) for item in right.items):
        return f"{left} in ({joined(right.items)})"
    if _level(right) >= _PRIMARY:
        return f"{left} in {to_text(right)}"
    return f"{left} in (({to_text(right)}))"  # one pair of parentheses would begin a list


# --- values


@to_text.register
def _(node: Literal) -> str:
    return literal_text(node.value, node.kind, node.type_name)


@to_text.register
def _(node: Collection) -> str:
    return f"[{joined(node.items)}]"


@to_text.register
def _(node: JsonObject) -> str:
    members = (f"{json.dumps(name)}:{to_text(value)}" for name, value in node.members)
    return "{" + ",".join(members) + "}"


@to_text.register
def _(node: TypeName) -> str:
    return f"Collection({node.name})" if node.is_collection else node.name


# --- paths


def _step(base: Node | None, text: str) -> str:
    return text if base is None else f"{to_text(base)}/{text}"


@to_text.register
def _(node: It) -> str:
    return "$it"


@to_text.register
def _(node: This) -> str:
    return "$this"


@to_text.register
def _(node: These) -> str:
    return "$these"


@to_text.register
def _(node: Root) -> str:
    return "$root"


@to_text.register
def _(node: Alias) -> str:
    return "@" + node.name


@to_text.register
def _(node: Member) -> str:
    return _step(node.base, node.name)


@to_text.register
def _(node: TypeCast) -> str:
    return _step(node.base, node.type_name)


@to_text.register
def _(node: Annotation) -> str:
    qualifier = "" if node.qualifier is None else "#" + node.qualifier
    return _step(node.base, f"@{node.term}{qualifier}")


@to_text.register
def _(node: Argument) -> str:
    return to_text(node.value) if node.name is None else f"{node.name}={to_text(node.value)}"


@to_text.register
def _(node: KeyPredicate) -> str:
    return f"{to_text(node.base)}({joined(node.arguments)})"


@to_text.register
def _(node: BoundCall) -> str:
    return _step(node.base, f"{node.name}({joined(node.arguments)})")


@to_text.register
def _(node: FilterSegment) -> str:
    return _step(node.base, f"$filter({to_text(node.predicate)})")


@to_text.register
def _(node: Lambda) -> str:
    predicate = "" if node.predicate is None else f"{node.variable}:{to_text(node.predicate)}"
    return _step(node.source, f"{node.op}({predicate})")


@to_text.register
def _(node: Count) -> str:
    options = []
    if node.filter is not None:
        options.append(f"$filter={to_text(node.filter)}")
    if node.search is not None:
        options.append(f"$search={to_text(node.search)}")
    return _step(node.source, "$count" + (f"({';'.join(options)})" if options else ""))


# --- functions


@to_text.register
def _(node: Call) -> str:
    return f"{node.name}({joined(node.arguments)})"


@to_text.register
def _(node: Case) -> str:
    # The blank keeps 10:20 from being a time of day.
    pairs = (f"{to_text(condition)}: {to_text(value)}" for condition, value in node.branches)
    return f"case({','.join(pairs)})"


# --- $orderby, $compute, $search


@to_text.register
def _(node: OrderItem) -> str:
    return to_text(node.expression) + (" desc" if node.descending else "")


@to_text.register
def _(node: ComputeItem) -> str:
    return f"{to_text(node.expression)} as {node.alias}"


@to_text.register
def _(node: SearchTerm) -> str:
    return "(NOT)" if node.text == "NOT" else node.text


@to_text.register
def _(node: SearchPhrase) -> str:
    if not node.text:
        return "''"
    return '"' + node.text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@to_text.register
def _(node: SearchNot) -> str:
    return "NOT " + _search_operand(node.operand, SearchAnd | SearchOr)


@to_text.register
def _(node: SearchAnd) -> str:
    operands = _chain(node, lambda part: isinstance(part, SearchAnd)) or [node.left, node.right]
    return " AND ".join(_search_operand(part, SearchAnd | SearchOr) for part in operands)


@to_text.register
def _(node: SearchOr) -> str:
    operands = _chain(node, lambda part: isinstance(part, SearchOr)) or [node.left, node.right]
    return " OR ".join(_search_operand(part, SearchOr) for part in operands)


def _search_operand(node: SearchNode, looser: t.Any) -> str:
    return f"({to_text(node)})" if isinstance(node, looser) else to_text(node)
