"""The graph of imports: floors, circles and rooms of the engine that import each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.architecture.modules import imports, nodes_of, sources

# What the standard library and marshmallow document under such a name.
_PUBLIC = ("os._exit", "super()._deserialize")
Graph = Mapping[str, set[str]]


@cache
def graph() -> Graph:
    """Module -> the modules that it imports, also for the type checker alone.

    Whoever imports ``app.models.client`` runs ``app.models`` first, and so imports both. The edge
    from a module to the packages that it lies in is left out: that is no circle of meaning.
    """
    edges: dict[str, set[str]] = {name: set() for name in sources()}
    for each in imports():
        for imported in (each.imported, *_packages_of(each.imported)):
            if imported not in (each.importer, *_packages_of(each.importer)):
                edges[each.importer].add(imported)
    return edges


def _packages_of(module: str) -> Iterator[str]:
    """``app`` and ``app.models`` for ``app.models.client``."""
    parts = module.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts)))


def circles() -> list[list[str]]:
    """Modules that reach each other, a list for each circle (Tarjan's algorithm)."""
    edges, found = graph(), []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in edges[module]:
            if target not in number:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], number[target])
        if lowest[module] == number[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in edges:
        if module not in number:
            visit(module)
    return found


def floors() -> int:
    """How many modules stand one upon the other where most do; there must be no circle."""

    @cache
    def floor(module: str) -> int:
        return 1 + max(map(floor, graph()[module]), default=0)

    return max(map(floor, graph()))


def upward() -> list[str]:
    """Rooms of the query engine that import each other: one of them imports upwards."""
    rooms = {
        (_room(importer), _room(imported)) for importer in graph() for imported in graph()[importer]
    }
    return sorted(
        f"{room} <-> {other}"
        for room, other in rooms
        if room and other and room < other and (other, room) in rooms
    )


def _room(module: str) -> str:
    """``app.odata.reading`` for a module in it; nothing for one that lies in no room."""
    parts = module.split(".")
    return ".".join(parts[:3]) if parts[:2] == ["app", "odata"] and len(parts) > 3 else ""


def private_names() -> Iterator[str]:
    """Names with a leading underscore that are taken from a library."""
    for module, tree in sources().items():
        libraries = set()
        for node in nodes_of(tree):
            if isinstance(node, ast.Import):
                names = [alias for alias in node.names if not alias.name.startswith("app")]
                libraries |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("app"):
                libraries |= {alias.asname or alias.name for alias in node.names}
                for name in [
                    *(node.module or "").split("."),
                    *(alias.name for alias in node.names),
                ]:
                    if _is_private(name):
                        yield f"{module}:{node.lineno} {name}"
        for node in nodes_of(tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="getattr" | "hasattr" | "setattr"),
                    args=[ast.expr(), ast.Constant(value=str(name)), *_],
                ) if _is_private(name):
                    yield f"{module}:{node.lineno} {name}"
            if isinstance(node, ast.Attribute) and _is_private(node.attr):
                owner = node.value
                name = ast.unparse(node)
                is_library = isinstance(owner, ast.Name) and owner.id in libraries
                if (is_library or name.startswith("super()")) and name not in _PUBLIC:
                    yield f"{module}:{node.lineno} {name}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")
