"""Codes that people write as words: a country by its name, a unit by what is said for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.console import area
from app.console.named_codes import LISTS, code_name, code_names, typed_code
from app.models.client import Client
from app.models.ticket import Ticket
from app.settings import organisation
from tests.console.conftest import SignIn
from tests.console.test_settings import fill

TEMPLATES = Path(area.__file__).parent / "templates"


def test_no_field_cuts_what_is_typed_into_it() -> None:
    """``Germany`` cut to two letters is Georgia; what is too long is refused at its field."""
    assert [file.name for file in TEMPLATES.glob("*.html") if "maxlength" in file.read_text()] == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", LISTS)
def test_each_name_that_is_offered_is_read_as_its_code(
    sign_in: SignIn, name: str, language: str
) -> None:
    client = sign_in("Admin").client
    with client, client.application.test_request_context(headers={"Accept-Language": language}):
        names = code_names(name)
        codes = [typed_code(name, text) for text in names]
        assert len(names) == len(set(codes)) > 20
        assert [code_name(name, code) for code in codes] == names


@pytest.mark.parametrize(
    ("typed", "code"), [("Germany", "DE"), ("Deutschland", "DE"), ("de", "DE"), ("Suisse", "CH")]
)
def test_a_country_is_typed_by_its_name(
    sign_in: SignIn, session: Session, typed: str, code: str
) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme", **{"billingAddress.country": typed})
    assert session.scalars(select(Client.billing_country)).one() == code
    name = {"DE": "Germany", "CH": "Switzerland"}[code]
    assert f'value="{name}"' in browser.get(f"clients/{client}/edit").text
    assert f">{name}</dd>" in browser.get(f"clients/{client}").text


def test_what_is_no_country_is_refused_at_its_field(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit("clients/new", name="A", **{"billingAddress.country": "Oz!"})
    assert answer.status_code == 400 and 'id="f-billingAddress-country-p"' in answer.text
    assert 'value="Oz!"' in answer.text


def test_the_company_is_in_a_country_that_was_named(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "seller", country="Austria")
    assert browser.submit("settings/seller", **form).status_code == 303
    with browser.client.application.app_context():
        assert organisation().seller.country == "AT"
    assert 'value="Austria"' in browser.get("settings/seller").text


def test_leads_are_found_by_the_name_of_their_country(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    browser.make("leads", lastName="Berg", country="Norway")
    address = "leads/?filtering=1&add=country&operator=is&value=norway"
    page = browser.get(browser.get(address).headers["Location"].removeprefix("/admin/")).text
    assert "Berg" in page and "Country is Norway" in page


def test_a_language_is_typed_and_shown_by_its_name(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Admin")
    ticket = browser.make("tickets", subject="Help", requesterEmail="a@b.example", language="Czech")
    assert session.scalars(select(Ticket.language)).one() == "cs"
    assert ">Czech</dd>" in browser.get(f"tickets/{ticket}").text
    assert 'value="Czech"' in browser.get(f"tickets/{ticket}/edit").text
    regional = browser.make("contacts", lastName="Ada", clientId="", language="de-AT")
    assert ">de-AT</dd>" in browser.get(f"contacts/{regional}").text


def test_an_account_number_is_read_in_fours(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "bank", iban="DE02120300000000202051")
    assert browser.submit("settings/bank", **form).status_code == 303
    page = browser.get("settings/bank").text
    assert 'value="DE02 1203 0000 0000 2020 51"' in page
