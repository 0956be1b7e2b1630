"""``$apply``, ``$select``, ``$expand`` and whole query strings back to text."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from app.odata.syntax.apply_nodes import (
    Aggregate,
    AggregateCall,
    AggregateFrom,
    AggregateItem,
    Apply,
    ComputeTransformation,
    Concat,
    ExpandTransformation,
    FilterTransformation,
    FunctionTransformation,
    GroupBy,
    HierarchyReference,
    HierarchyStep,
    Identity,
    Join,
    Nest,
    NestItem,
    OrderByTransformation,
    Rollup,
    RollupRecursive,
    SearchTransformation,
    SkipTransformation,
    TopBottom,
    TopTransformation,
    Traverse,
)
from app.odata.syntax.nodes import Node
from app.odata.syntax.option_nodes import ExpandItem, QueryOptions, SelectItem
from app.odata.syntax.printer import joined, to_text

__all__ = ["option_texts", "query_text", "to_text"]


def query_text(options: QueryOptions) -> str:
    """A query string, percent-encoded, such as ``$filter=a%20eq%201&$top=5``."""
    pairs = [*option_texts(options), *options.custom]
    return "&".join(f"{quote(name, safe='$@')}={quote(text, safe=_SAFE)}" for name, text in pairs)


_SAFE = "!$'()*,/:;=@"


def option_texts(options: QueryOptions) -> Iterator[tuple[str, str]]:
    """Name (``$filter``, ``@alias``) and text of each option that is given, custom ones apart."""
    nodes = {
        "$filter": options.filter,
        "$apply": options.apply,
        "$search": options.search,
        "$top": options.top,
        "$skip": options.skip,
    }
    lists = {
        "$compute": options.compute,
        "$orderby": options.orderby,
        "$select": options.select,
        "$expand": options.expand,
    }
    words = {
        "$count": None if options.count is None else str(options.count).lower(),
        "$levels": options.levels,
        "$index": options.index,
        "$skiptoken": options.skiptoken,
        "$deltatoken": options.deltatoken,
        "$format": options.format,
        "$schemaversion": options.schemaversion,
        "$id": options.id,
    }
    yield from ((name, to_text(node)) for name, node in nodes.items() if node is not None)
    yield from ((name, joined(items)) for name, items in lists.items() if items)
    yield from ((name, str(word)) for name, word in words.items() if word is not None)
    yield from (("@" + name, to_text(value)) for name, value in options.aliases.items())


def _in_parentheses(options: QueryOptions | None) -> str:
    if options is None:
        return ""
    return f"({';'.join(f'{name}={text}' for name, text in option_texts(options))})"


@to_text.register
def _(node: SelectItem) -> str:
    parameters = "" if node.parameters is None else f"({','.join(node.parameters)})"
    return "/".join(node.path) + parameters + _in_parentheses(node.options)


@to_text.register
def _(node: ExpandItem) -> str:
    suffix = "/$ref" if node.ref else "/$count" if node.count_only else ""
    return "/".join(node.path) + suffix + _in_parentheses(node.options)


# --- $apply


@to_text.register
def _(node: Apply) -> str:
    return joined(node.transformations, "/")


def _with_apply(text: str, apply: Apply | None) -> str:
    return text if apply is None else f"{text},{to_text(apply)}"


@to_text.register
def _(node: AggregateItem) -> str:
    method = f" with {node.method}" if node.method else ""
    origins = "".join(" " + to_text(origin) for origin in node.origins)
    alias = f" as {node.alias}" if node.alias else ""
    return to_text(node.expression) + method + origins + alias


@to_text.register
def _(node: AggregateFrom) -> str:
    return f"from {joined(node.properties)}" + (f" with {node.method}" if node.method else "")


@to_text.register
def _(node: AggregateCall) -> str:
    return f"{to_text(node.source)}/aggregate({to_text(node.item)})"


@to_text.register
def _(node: Aggregate) -> str:
    return f"aggregate({joined(node.items)})"


@to_text.register
def _(node: Rollup) -> str:
    return f"rollup({'$all,' if node.with_total else ''}{joined(node.properties)})"


@to_text.register
def _(node: HierarchyReference) -> str:
    return f"{to_text(node.collection)},{node.qualifier},{to_text(node.node_property)}"


@to_text.register
def _(node: RollupRecursive) -> str:
    return f"rolluprecursive({_with_apply(to_text(node.hierarchy), node.apply)})"


@to_text.register
def _(node: GroupBy) -> str:
    return f"groupby({_with_apply(f'({joined(node.keys)})', node.apply)})"


@to_text.register
def _(node: FilterTransformation) -> str:
    return f"filter({to_text(node.predicate)})"


@to_text.register
def _(node: SearchTransformation) -> str:
    return f"search({to_text(node.search)})"


@to_text.register
def _(node: ComputeTransformation) -> str:
    return f"compute({joined(node.items)})"


@to_text.register
def _(node: OrderByTransformation) -> str:
    return f"orderby({joined(node.items)})"


@to_text.register
def _(node: TopTransformation) -> str:
    return f"top({to_text(node.count)})"


@to_text.register
def _(node: SkipTransformation) -> str:
    return f"skip({to_text(node.count)})"


@to_text.register
def _(node: Identity) -> str:
    return "identity"


@to_text.register
def _(node: Concat) -> str:
    return f"concat({joined(node.sequences)})"


@to_text.register
def _(node: TopBottom) -> str:
    return f"{node.kind}({to_text(node.amount)},{to_text(node.expression)})"


@to_text.register
def _(node: NestItem) -> str:
    return f"{to_text(node.apply)} as {node.alias}"


@to_text.register
def _(node: Nest) -> str:
    if node.path is None:
        return f"nest({joined(node.items)})"
    return f"addnested({to_text(node.path)},{joined(node.items)})"


@to_text.register
def _(node: Join) -> str:
    name = "outerjoin" if node.outer else "join"
    return f"{name}({_with_apply(f'{to_text(node.path)} as {node.alias}', node.apply)})"


@to_text.register
def _(node: ExpandTransformation) -> str:
    nested = "".join("," + to_text(child) for child in node.nested)
    return f"expand({_with_apply(to_text(node.path), node.apply)}{nested})"


@to_text.register
def _(node: HierarchyStep) -> str:
    parts: list[Node] = [node.hierarchy, node.start]
    if node.distance is not None:
        parts.append(node.distance)
    return f"{node.kind}({joined(parts)}{',keep start' if node.keep_start else ''})"


@to_text.register
def _(node: Traverse) -> str:
    text = _with_apply(f"{to_text(node.hierarchy)},{node.order}", node.start)
    return f"traverse({text}{',' + joined(node.orderby) if node.orderby else ''})"


@to_text.register
def _(node: FunctionTransformation) -> str:
    return f"{node.name}({joined(node.arguments)})"
