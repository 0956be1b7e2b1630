"""The words of the demonstration, read from the files in ``data``.

Whoever wants other companies, products or tickets changes those; what is made of them is Python.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Industry:
    """A line of business: how company names in it end, and employees from .. to."""

    name: str
    endings: tuple[str, ...]
    employees: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Position:
    """What somebody is in a company; ``role`` is the part in a purchase."""

    title: str
    department: str
    role: str


@dataclass(frozen=True, kw_only=True)
class City:
    """A city with one of its postal codes."""

    name: str
    postal_code: str


@dataclass(frozen=True, kw_only=True)
class Country:
    """A market: ``weight`` is its share of clients, ``calling`` its telephone prefix."""

    code: str
    language: str
    currency: str
    calling: str
    weight: int
    cities: tuple[City, ...]
    streets: tuple[str, ...]
    legal_forms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Product:
    """Net ``price`` in euros; quantities run from ``least`` to ``most`` of ``unit`` (UN/ECE)."""

    code: str
    description: str
    price: str
    unit: str
    least: int
    most: int
    weight: int


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An opportunity: its title, with places to fill, and its amount from .. to in euros."""

    type: str
    title: str
    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class Case:
    """A ticket as it comes in."""

    subject: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A kind of ticket; ``article`` is the key of the article that answers it.

    ``priorities`` are initials of Low, Normal, High and Urgent, as often as likely.
    """

    article: str
    type: str
    category: str
    priorities: str
    cases: tuple[Case, ...]
    answers: tuple[str, ...]
    resolution: str
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A task of a project and the hours that it takes."""

    title: str
    hours: int


@dataclass(frozen=True, kw_only=True)
class File:
    """A document of a client; valid for ever with 0 ``valid_days``."""

    name: str
    category: str
    media_type: str
    extension: str
    valid_days: int


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _texts(by_key: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(texts) for key, texts in by_key.items()}


_companies = _read("companies")
INDUSTRIES = tuple(
    Industry(
        name=row["name"],
        endings=tuple(row["endings"]),
        employees=(row["employees"][0], row["employees"][1]),
    )
    for row in _companies["industries"]
)
STEMS: tuple[str, ...] = tuple(_companies["stems"])
SOURCES: tuple[str, ...] = tuple(_companies["sources"])

_people = _read("people")
FIRST_NAMES = _texts(_people["first_names"])
LAST_NAMES = _texts(_people["last_names"])
POSITIONS = tuple(Position(**row) for row in _people["positions"])

_places = _read("places")
HOME: str = _places["home"]
EUROPEAN_UNION = frozenset(_places["european_union"])
COUNTRIES = tuple(
    Country(**{
        **row,
        "cities": tuple(City(**city) for city in row["cities"]),
        "streets": tuple(row["streets"]),
        "legal_forms": tuple(row["legal_forms"]),
    })
    for row in _places["countries"]
)  # fmt: skip

_products = _read("products")
SUBSCRIPTIONS = tuple(Product(**row) for row in _products["subscriptions"])
GOODS = tuple(Product(**row) for row in _products["goods"])
SERVICES = tuple(Product(**row) for row in _products["services"])

_sales = _read("sales")
OPPORTUNITIES = tuple(Offer(**row) for row in _sales["opportunities"])
NEXT_STEPS: tuple[str, ...] = tuple(_sales["next_steps"])
COMPETITORS: tuple[str, ...] = tuple(_sales["competitors"])
LEAD_NOTES: tuple[str, ...] = tuple(_sales["lead_notes"])
LOST_NOTES: Mapping[str, str] = _sales["lost_notes"]

_support = _read("support")
FOLLOW_UPS = _texts(_support["follow_ups"])
INTERNAL_NOTES: tuple[str, ...] = tuple(_support["internal_notes"])
TOPICS = tuple(
    Topic(**{
        **row,
        "cases": tuple(Case(**case) for case in row["cases"]),
        "answers": tuple(row["answers"]),
    })
    for row in _read("topics")["topics"]
)  # fmt: skip

_work = _read("work")
PROJECTS: tuple[str, ...] = tuple(_work["projects"])
TASKS: tuple[str, ...] = tuple(_work["tasks"])
TAGS: tuple[str, ...] = tuple(_work["tags"])
PROJECT_TASKS = tuple(Step(**row) for row in _work["project_tasks"])
DOCUMENTS = tuple(File(**row) for row in _work["documents"])
