"""What the service says to people, where it says it: refusals, and what is wrong with a field.

An f-string is a text with places: ``f"must be at most {most}"`` is ``must be at most %(a)s``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from babel.messages.pofile import read_po

import app
from app.console.language import catalogue_path, languages
from app.localisation.service_messages import CONTEXT
from tests.architecture.modules import nodes_of

ROOT = Path(app.__file__).parent
# What only programs and the command line are told, but for what is SHOWN of it.
LEFT_OUT = (
    "admin/", "ai/", "auth/authentication.py", "auth/commands.py", "auth/credentials.py",
    "auth/sessions.py", "auth/tokens.py", "backup/", "bi/", "config.py",
    "console/", "db/", "demo/", "documents/inspection/", "guide/", "http/", "importing/command.py",
    "importing/history.py", "invoices/chain.py", "invoices/einvoice/codes.py",
    "invoices/history.py", "invoices/pdf/", "jobs/", "mail/", "metrics/", "models/", "odata/",
    "openapi/", "output_file.py", "start/", "webhooks/journal.py", "writing/reference_rules.py",
    "localisation/guards.py",
)  # fmt: skip
SHOWN = (
    "bi/reports/", "http/error_answers.py", "http/limits.py", "http/schema_bounds.py",
    "http/schema_fields.py", "jobs/processes.py", "mail/outbox.py",
    "odata/reading/plan.py",
)  # fmt: skip
# How what is wrong with a field begins: the name of the field stands before it.
_OF_FIELD = re.compile(
    r"(%\(a\)s )?(must|is|has|cannot|could|needs|belongs|does|would|was|happens|there (is|are)) .+",
    re.DOTALL,
)
_SENTENCE = re.compile(r"[A-Z%].* .*\.", re.DOTALL)
_PLACE = re.compile(r"\{+(\w+)\}+")
_REFUSING = ("Error", "records.get", "records.look_up", "problems.append")
# What is assigned to these is said.
_SAYING = {"message", "problem", "reason", "usual"}
_DESCRIBING = ("description", "summary", "label", "title", "doc", "example")


@cache
def messages() -> tuple[str, ...]:
    """Every message, as the catalogues name it."""
    return tuple(_messages())


def _messages() -> Iterator[str]:
    known = frozenset(_translated())
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for text in messages_in(ast.parse(path.read_text(encoding="utf-8"))):
            if is_wanted(text, name, known):
                yield text


def is_wanted(text: str, module: str, known: Collection[str]) -> bool:
    """Whether a message of a module has a translation: one that is ``known`` keeps it anywhere."""
    is_shown = module.startswith(SHOWN) or not module.startswith(LEFT_OUT)
    return is_shown or text in known


def _translated() -> Iterator[str]:
    """The messages that a catalogue has."""
    for of_language in languages()[1:]:
        with catalogue_path(of_language).open("rb") as source:
            yield from (each.id for each in read_po(source) if each.context == CONTEXT)


def messages_in(tree: ast.Module) -> Iterator[str]:
    """Those of a module."""
    silent, refusing = set(_silent(tree)), set(_refusing(tree))
    for node in nodes_of(tree):
        text = "" if id(node) in silent else _text(node)
        if _OF_FIELD.fullmatch(text) or (
            id(node) in refusing and _SENTENCE.fullmatch(text.strip())
        ):
            yield text.strip()


def _refusing(tree: ast.Module) -> Iterator[int]:
    """What is raised or returned, stands in an error, or is called a message."""
    for node in nodes_of(tree):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        to = [ast.unparse(each) for each in getattr(node, "targets", [])]
        to += [ast.unparse(node.target)] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []
        is_said = isinstance(node, ast.Raise | ast.Return) or name.endswith(_REFUSING)
        if is_said or _SAYING.intersection(to):
            yield from map(id, ast.walk(node))


def _silent(tree: ast.Module) -> Iterator[int]:
    """What is no message: docstrings, descriptions, parts of f-strings."""
    for node in nodes_of(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts = [node.value]
        elif isinstance(node, ast.keyword) and node.arg in _DESCRIBING:
            parts = list(ast.walk(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = list(node.values)
        yield from map(id, parts)


def _text(node: ast.AST) -> str:
    """A literal with its places named by letters; empty for other nodes."""
    names = iter(ascii_lowercase)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _PLACE.sub(lambda place: f"%({next(names)})s", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value.replace("%", "%%")
            if isinstance(part, ast.Constant)
            else f"%({next(names)})s"
            for part in node.values
        )
    return ""
