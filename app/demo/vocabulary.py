"""The words of the demonstration, read from the files in ``data``.

Whoever wants other companies, products or tickets changes those; what is made of them is Python.
The files say what their values mean.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from app.localisation.data_files import data_beside


class Row(SimpleNamespace):
    """A table of a file, its values under their names: ``country.cities[0].postal_code``."""


def _read(name: str) -> Any:
    return _frozen(data_beside(__file__, f"data/{name}.toml"))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return Row(**{name: _frozen(member) for name, member in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


ARTICLES = _read("articles").articles
_companies = _read("companies")
INDUSTRIES, STEMS, SOURCES = _companies.industries, _companies.stems, _companies.sources
_people = _read("people")
# Country -> names.
FIRST_NAMES, LAST_NAMES = vars(_people.first_names), vars(_people.last_names)
POSITIONS = _people.positions
_places = _read("places")
HOME, EUROPEAN_UNION, COUNTRIES = _places.home, _places.european_union, _places.countries
_products = _read("products")
SUBSCRIPTIONS, GOODS, SERVICES = _products.subscriptions, _products.goods, _products.services
_sales = _read("sales")
OPPORTUNITIES, NEXT_STEPS = _sales.opportunities, _sales.next_steps
COMPETITORS, LEAD_NOTES = _sales.competitors, _sales.lead_notes
LOST_NOTES = vars(_sales.lost_notes)  # by reason
_support = _read("support")
FOLLOW_UPS = vars(_support.follow_ups)  # by language
INTERNAL_NOTES = _support.internal_notes
TOPICS = _read("topics").topics
_work = _read("work")
PROJECTS, TASKS, TAGS = _work.projects, _work.tasks, _work.tags
PROJECT_TASKS, DOCUMENTS = _work.project_tasks, _work.documents
CLAUSES = vars(_read("clauses"))  # by the beginning of the name of a document
COMPANY = vars(_read("settings"))  # by group
