"""Every text of the console is marked for the catalogues, and every catalogue has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from flask import Flask
from jinja2 import nodes

from app.console import language
from tests.console.catalogue import KEYWORDS, METHODS, ROOT, read, strings, texts

pytestmark = pytest.mark.only_on("sqlite")

TEMPLATES = sorted(path for folder in METHODS for path in folder.glob("**/*.html"))
MODULES = sorted(ROOT.glob("*.py"))
LANGUAGES = language.languages()[1:]
WORD = re.compile(r"[A-Za-z]{2,}")
# The same in every language.
NAMES = {"PDF", "MB", "ISO"}
# Of a style sheet.
CLASSES = {"facts short"}
SPOKEN = ("aria-label", "placeholder", "title", "alt", "data-confirm")
PLACE = re.compile(r"%\((\w+)\)s|\{(\w+)\}|</?\w+|href=\"[^\"]*\"")
# A phrase of small words after the first: no query, no name of a property.
PHRASE = re.compile(r"[A-Za-z][a-z]+( [a-z]+)+[.:?…]?")
QUERY = re.compile(r"\b(eq|ne|ge|gt|le|lt|desc|asc)\b")


class Texts(HTMLParser):
    """The texts of a page that people read or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_code = tag in ("code", "script", "style")
        self.found += [value for name, value in attrs if name in SPOKEN and value]

    def handle_endtag(self, tag: str) -> None:
        self._is_code = False

    def handle_data(self, data: str) -> None:
        if not self._is_code:
            self.found.append(data)


def unmarked_in_template(app: Flask, path: Path) -> Iterator[str]:
    tree = app.jinja_env.parse(path.read_text(encoding="utf-8"))
    parser = Texts()
    parser.feed("\N{BULLET}".join(each.data for each in tree.find_all(nodes.TemplateData)))
    yield from (text.strip() for text in parser.found if set(WORD.findall(text)) - NAMES)
    marked = {
        id(const)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in KEYWORDS
        for const in call.find_all(nodes.Const)
    }
    for const in tree.find_all(nodes.Const):
        text = str(const.value)
        if id(const) not in marked and PHRASE.fullmatch(text) and text not in CLASSES:
            yield text


def unmarked_in_module(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)  # a docstring
        or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in KEYWORDS)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known:
            text = node.value
            if PHRASE.fullmatch(text.strip()) and not QUERY.search(text):
                yield text


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_text_of_a_template_is_marked(app: Flask, path: Path) -> None:
    assert list(unmarked_in_template(app, path)) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_every_text_of_a_module_is_marked(path: Path) -> None:
    assert list(unmarked_in_module(path)) == []


@pytest.mark.parametrize("of_language", LANGUAGES)
def test_a_catalogue_has_every_text_and_no_other(app: Flask, of_language: str) -> None:
    with app.app_context():
        wanted = {(message.context, message.id) for message in texts() if message.id}
    catalogue = read(of_language)
    kept = {(message.context, message.id): message for message in catalogue if message.id}
    assert wanted - kept.keys() == set(), "make texts adds them"
    assert kept.keys() - wanted == set(), "make texts takes them away"
    assert [message.id for message in kept.values() if not all(strings(message.string))] == []
    assert [message.id for message in kept.values() if message.fuzzy] == []
    assert not catalogue.obsolete


@pytest.mark.parametrize("of_language", LANGUAGES)
def test_a_translation_has_the_places_and_tags_of_its_text(of_language: str) -> None:
    assert [message.id for message in read(of_language) if not _agrees(message)] == []


def _agrees(message: Message) -> bool:
    wanted = set(PLACE.findall(strings(message.id)[-1])), _edges(strings(message.id)[-1])
    return message.id == "" or all(
        (set(PLACE.findall(text)), _edges(text)) == wanted for text in strings(message.string)
    )


def _edges(text: str) -> tuple[bool, bool]:
    """Whether a text begins and ends with a space: what stands beside it counts on that."""
    return text[:1] == " ", text[-1:] == " "
