"""Names with letters that a keyboard does not have."""

from __future__ import annotations

import pytest
from flask import Flask

from app.bi.words.spelling import spellings, spelt
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.models.searched import plain_letters
from tests.bi.conftest import Ask
from tests.factories import make_client


def _client(app: Flask, name: str, city: str) -> None:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        make_client(name=name, billing_city=city)


@pytest.mark.parametrize(
    ("text", "name"),
    [("muenchen", "München"), ("Munchen", "München"), ("ozdemir", "Özdemir"),
     ("Oezdemir", "Özdemir"), ("krakow", "Kraków"), ("lodz", "Łódź"), ("strasse", "Straße"),
     ("malmoe", "Malmö"), ("aarhus", "Århus")],
)  # fmt: skip
def test_a_name_is_found_without_its_marks(text: str, name: str) -> None:
    assert plain_letters(text) in spelt(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("manchen", "München"), ("paris", "Paris"), ("munch", "München"), ("kolner", "Köln")],
)
def test_other_names_are_other_names(text: str, name: str) -> None:
    assert plain_letters(text) not in spelt(name)


def test_umlauts_are_tried_only_where_they_may_be_written_out() -> None:
    assert list(spellings("Baeckerei")) == ["Baeckerei", "Bäckerei"]
    assert list(spellings("Uelzen Baeder")) == ["Uelzen Baeder", "Ülzen Bäder"]
    assert list(spellings("Metzgerei")) == ["Metzgerei"]
    assert list(spellings("Revenue queue")) == ["Revenue queue"]


@pytest.mark.parametrize("city", ["Muenchen", "munchen", "München"])
def test_clients_of_a_city_are_found_as_people_type_it(
    app: Flask, ask: Ask, business: None, city: str
) -> None:
    _client(app, "Isar GmbH", "München")
    _client(app, "Spree GmbH", "Berlin")
    answer = ask(f"clients in {city}")
    assert [row["name"] for row in answer["rows"]] == ["Isar GmbH"]


def test_a_client_is_found_by_its_umlaut_written_out(app: Flask, ask: Ask, business: None) -> None:
    _client(app, "Bäckerei Weber", "Berlin")
    answer = ask("open invoices of Baeckerei Weber")
    assert answer["status"] == "answered"
    assert "Bäckerei Weber" in answer["interpretation"]


def test_a_city_that_no_client_is_in_stays_unknown(app: Flask, ask: Ask, business: None) -> None:
    _client(app, "Isar GmbH", "München")
    assert ask("clients in Nuernberg")["status"] == "unsupported"
