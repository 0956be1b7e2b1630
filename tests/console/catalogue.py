"""The texts of the console, and whether its catalogues have them.

``make texts`` brings every catalogue up to date: new texts are added without
a translation, those that are gone are taken away. ``make texts ARGS=fr`` begins
one for another language.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from flask import Flask

import app.console
from app.ai.record import PROFILES
from app.ai.tools import OperationTool, tools
from app.bi.answers import EXAMPLES
from app.bi.reports.builtin import built_in
from app.config import Config
from app.console import area, filters, imports, language, sets, steps, wording
from app.console.start_page import FIRST_STEPS
from app.container.measures import MEASURES
from app.container.model import container
from app.container.words import label_text
from app.events import NAMES
from app.extensions import Model
from app.factory import create_app
from app.importing.columns import properties_of
from app.localisation.catalogue import BUTTON, COLUMN
from app.localisation.service_messages import CONTEXT
from app.mail import recipients
from app.odata.model import edm
from app.permissions import ALL, CRUD, OWN, PUBLISHED, RESOURCES
from app.settings import templates
from app.settings.groups import GROUPS, settings_of
from app.writing.reference_rules import RULES
from tests.console.messages import messages

ROOT = Path(app.console.__file__).parent
# Folder -> what of it is read; the pages behind public links and the assistant speak as the
# console does.
METHODS = {
    ROOT: [("templates/**.html", "jinja2"), ("**.py", "python")],
    ROOT.parent / "templates": [("**.html", "jinja2")],
    ROOT.parent / "ai": [("**.py", "python")],
    ROOT.parent / "bi": [("**.py", "python")],
    ROOT.parent / "container": [("**.py", "python")],
    ROOT.parent / "documents": [("**.py", "python")],
    ROOT.parent / "localisation": [("**.py", "python")],
}
OPTIONS = {"**.html": {"trimmed": "true", "silent": "false"}}
# What means something else at the head of a column than elsewhere.
HEADS = ("To", "At", "End", "Documents", "Change", "Event", "Written")
KEYWORDS = {
    "_": None, "gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2),
    "translated": None, "marked": None, "translated_count": (1, 2), "translated_as": ((1, "c"), 2),
}  # fmt: skip
_UNKEPT = (
    b'"Project-Id', b'"Report-', b'"POT-', b'"PO-', b'"Last-', b'"Language-Team', b'"Generated-',
)  # fmt: skip


def texts() -> Catalog:
    """Every text that a page can show, without translations; inside the context of an app."""
    catalogue = Catalog(project="console", fuzzy=False)
    for folder, methods in METHODS.items():
        for _, _, message, _, context in extract_from_dir(str(folder), methods, OPTIONS, KEYWORDS):
            catalogue.add(message, context=context)
    for text in messages():
        catalogue.add(text, context=CONTEXT)
    for text in words_of_the_model():
        catalogue.add(text)
    catalogue.add("State", context="address")
    for text in HEADS:
        catalogue.add(text, context=COLUMN)
    for page in sets.PAGES.values():
        for group in page.groups:
            catalogue.add(group.title, context=sets.GROUP)
    for operation in steps.OFFERED.values():
        if operation.button is not None:
            catalogue.add(operation.button.label, context=BUTTON)
    for tool in tools().values():
        if isinstance(tool, OperationTool):
            catalogue.add(tool.label, context=BUTTON)
            for name in tool.schema["properties"]:
                catalogue.add(tool.labels.get(name) or label_text(name))
    return catalogue


def words_of_the_model() -> Iterator[str]:
    """What pages take from declarations elsewhere: labels, states, buttons, figures, settings."""
    for page in sets.PAGES.values():
        yield from (page.plural, page.singular, page.unnamed, *page.views)
    yield from ("Mine", "Unassigned", ALL, OWN, PUBLISHED)
    yield from chain.from_iterable(table.values() for table in wording.CALLED.values())
    yield from (entry["words"] for part in area.MENU.values() for entry in part.values())
    for first_step in FIRST_STEPS.values():
        yield from (first_step.title, first_step.why)
    for operators in filters.OPERATORS.values():
        yield from (operator.words for operator in operators.values())
    buttons = [each.button for each in steps.OFFERED.values() if each.button is not None]
    yield from (text for button in buttons for text in (button.done, button.of_many) if text)
    for step in map(steps.step_of, steps.OFFERED.values()):
        yield from (each.label for each in step.inputs)
        yield from (each.hint for each in step.inputs if each.hint)
        yield from (text for each in step.inputs for _, text in each.options)
    for entity_set in container().sets.values():
        yield wording.label(entity_set.name)
        yield from _words_of(entity_set.type)
    for table in Model.metadata.tables.values():
        for column in table.columns:
            yield from map(wording.words, column.info.get("allowed") or ())
    yield from map(wording.words, recipients.STATUSES)
    for measure in MEASURES.values():
        yield from (measure.label, measure.description)
    for report in built_in().values():
        yield from (report.name, report.description or "")
        yield from (column.label for column in report.columns)
        yield from (parameter.description.strip(".") for parameter in report.parameters)
    for group in GROUPS:
        for name, setting in settings_of(group).items():
            yield from (wording.label(name), setting.read.metadata["description"])
    yield from map(wording.label, templates.KINDS)
    yield from (*templates.PLACES.values(), *templates.ANSWER_PLACES.values())
    yield from (each.capitalize() for each in (*CRUD, *RESOURCES))
    yield from map(wording.label, NAMES)
    yield from (rule.blockers for rule in RULES.values() if rule.blockers)
    for kind in imports.PATHS:
        yield from map(wording.label, properties_of(kind))
    yield from EXAMPLES
    for profile in PROFILES.values():
        yield from profile.facts
    listings = (profile.listings for profile in PROFILES.values())
    for listing in chain.from_iterable(listings):
        yield listing.title
        if re.search("[a-z]", re.sub(r"{\w+}", "", listing.line)):
            yield listing.line


def _words_of(type_: edm.EntityType | edm.ComplexType) -> Iterator[str]:
    yield wording.label(type_.name)
    for property_ in type_.properties.values():
        yield wording.label(property_.name)
        yield from map(wording.words, property_.allowed or ())
        if isinstance(property_.type, edm.EnumType):
            yield from map(wording.words, property_.type.members)
        parts = property_.type
        if isinstance(parts, edm.CollectionType):
            parts = parts.element
        if isinstance(parts, edm.ComplexType):
            yield from _words_of(parts)
    if isinstance(type_, edm.EntityType):
        for navigation in type_.navigation.values():
            yield wording.label(navigation.name)
            if navigation.contained:
                yield from _words_of(container().target(navigation))


def read(of_language: str) -> Catalog:
    """The catalogue of a language as it is kept."""
    with language.catalogue_path(of_language).open("rb") as source:
        return read_po(source, locale=of_language)


def update(of_language: str) -> int:
    """Bring the catalogue of a language up to date; returns how many texts have no translation."""
    path = language.catalogue_path(of_language)
    path.parent.mkdir(parents=True, exist_ok=True)
    known = read(of_language) if path.exists() else Catalog(Locale.parse(of_language))
    wanted = texts()
    catalogue = Catalog(Locale.parse(of_language), header_comment="", fuzzy=False)
    for message in wanted:
        if message.id:
            kept = known.get(message.id, context=message.context)
            catalogue.add(message.id, kept.string if kept else "", context=message.context,
                          flags=message.flags)  # fmt: skip
    made = BytesIO()
    write_po(made, catalogue, width=0, no_location=True, omit_header=False, sort_output=True)
    lines = made.getvalue().splitlines(keepends=True)
    # Who wrote it and when is no part of it: two who add texts do not touch the same line.
    path.write_bytes(b"".join(line for line in lines if not line.startswith(_UNKEPT)))
    return sum(not all(strings(message.string)) for message in catalogue if message.id)


def strings(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """A text, or those of each plural."""
    return (text,) if isinstance(text, str) else tuple(text)


def _app(folder: Path) -> Flask:
    return create_app(
        Config(
            SECRET_KEY="only for reading the model of this process",
            DATA_DIR=folder,
            SQLALCHEMY_DATABASE_URI=f"sqlite:///{folder / 'model.db'}",
            TESTING=True,
        )
    )


def main() -> None:
    """Bring the catalogues up to date, or begin one."""
    with tempfile.TemporaryDirectory() as name, _app(Path(name)).app_context():
        for each in sys.argv[1:] or language.languages()[1:]:
            print(f"{each}: {update(each)} texts without a translation")


if __name__ == "__main__":
    main()
