"""Problems of fields have one style: words that follow the name of the field.

``dueDate: must be a date such as 2024-01-31``: no capital, no full stop. What is said of a body as
a whole, which has no name, is a sentence; so is what the console asks of who fills in a form.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from app.http import schema_bounds as wire_bounds, schema_fields as wire_fields
from tests.architecture.modules import nodes_of, sources

STYLE = re.compile(r"[^A-Z\s].*[^.\s]", re.DOTALL)
# Their first argument is the text.
OF_A_FIELD = ("BadValueError", "UrlError")
# Their last one is.
NOTES = ("Detail", "refuse", "refuse_field")


def texts(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be; what is filled in is ``0``."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "0" for part in values
            )
        case ast.IfExp(body=body, orelse=orelse):
            yield from texts(body)
            yield from texts(orelse)


def problems(call: ast.Call) -> Iterator[ast.expr]:
    """The texts of problems that a call raises or notes."""
    name = getattr(call.func, "id", None) or getattr(call.func, "attr", "")
    is_noted = name in ("add", "append") and "problems" in ast.dump(call.func)
    if name in OF_A_FIELD:
        yield from call.args[:1]
    elif (name in NOTES or (is_noted and name == "add")) and len(call.args) == 2:
        yield call.args[1]
    elif is_noted or name.endswith("Error"):
        for argument in call.args:
            for node in ast.walk(argument):
                if isinstance(node, ast.Tuple) and len(node.elts) == 2 and name_of(node.elts[0]):
                    yield node.elts[1]


def name_of(node: ast.expr) -> bool:
    """Whether it is the name of a field, and not that of no field."""
    return not (isinstance(node, ast.Constant) and not node.value)


def test_problems_follow_the_name_of_their_field() -> None:
    problem_texts = [
        f"{module}:{node.lineno}: {text}"
        for module, tree in sources().items()
        if not module.startswith("app.console")
        for node in nodes_of(tree)
        if isinstance(node, ast.Call)
        for problem in problems(node)
        for text in texts(problem)
        if text and not STYLE.fullmatch(text)
    ]
    assert problem_texts == []


@pytest.mark.parametrize("module", [wire_fields, wire_bounds])
def test_those_of_the_library_are_in_our_words(module: object) -> None:
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
    said = [
        text
        for kind in kinds
        if kind.__module__ == getattr(module, "__name__", "")
        for text in (
            *vars(kind).get("default_error_messages", {}).values(),
            *vars(kind).get("error_messages", {}).values(),
            *(text for name, text in vars(kind).items() if name.split("_")[0] == "message"),
        )
    ]
    assert said
    assert [text for text in said if not STYLE.fullmatch(text)] == []


def test_schemas_are_made_of_them() -> None:
    ours = {"app.http.schema_fields", "app.http.schema_bounds", "app.http.areas"}
    modules = [
        module
        for module, tree in sources().items()
        if module not in ours
        for node in nodes_of(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "marshmallow"
        for alias in node.names
        if alias.name in ("fields", "validate")
    ]
    assert modules == []
