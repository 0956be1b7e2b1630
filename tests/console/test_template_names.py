"""Each name that a page's template reads is one that some view or template gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from flask import Flask
from jinja2 import nodes

CONSOLE = Path(__file__).parents[2] / "app" / "console"


def test_templates_read_only_what_is_given(app: Flask) -> None:
    env = app.jinja_env
    read: dict[str, set[str]] = {}
    given = {*env.globals, *_given_by_views(), "_", "caller", "kwargs", "loop"}
    for path in (CONSOLE / "templates").glob("*.html"):
        tree = env.parse(path.read_text(encoding="utf-8"))
        given.update(_given_by(tree))
        read[path.name] = {each.name for each in tree.find_all(nodes.Name) if each.ctx == "load"}
    assert len(read) > 60
    assert {name: missing for name, names in read.items() if (missing := names - given)} == {}


def _given_by(template: nodes.Template) -> Iterator[str]:
    """Names that a template sets, imports or defines."""
    yield from (each.name for each in template.find_all(nodes.Name) if each.ctx != "load")
    yield from (each.name for each in template.find_all(nodes.Macro))
    for imported in template.find_all(nodes.FromImport):
        yield from (each if isinstance(each, str) else each[1] for each in imported.names)


def _given_by_views() -> Iterator[str]:
    """Names of keyword arguments, and keys of dictionaries, in the modules of the console."""
    for path in CONSOLE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from (each.arg for each in node.keywords if each.arg)
            elif isinstance(node, ast.Dict):
                keys = (key.value for key in node.keys if isinstance(key, ast.Constant))
                yield from (key for key in keys if isinstance(key, str))
