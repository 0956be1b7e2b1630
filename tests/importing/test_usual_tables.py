"""Tables as people have them: exports of other systems, workbooks in two languages."""

from __future__ import annotations

from decimal import Decimal

import pytest
from flask import Flask

from app.container.words import word_text
from app.errors import ValidationError
from app.importing.columns import (
    IGNORE,
    RULES,
    TYPES,
    Options,
    Plan,
    plan_columns,
    properties_of,
    usual_headings,
)
from app.localisation.catalogue import languages
from app.localisation.code_names import (
    LANGUAGES,
    UNKNOWN_COUNTRY,
    country_code,
    language_names,
    read_currency,
    without_currency,
)

EXPORTS = [
    # (kind, headings as a system exports them, what they are)
    (
        "client",
        ["Record ID", "Company name", "Company Domain Name", "Phone Number", "City",
         "Country/Region", "Industry", "Number of Employees", "Annual Revenue", "Company owner"],
        ["externalId", "name", "website", "phone", "billingAddress.city",
         "billingAddress.country", "industry", "employeeCount", "revenue", "ownerName"],
    ),
    (
        "contact",
        ["Record ID", "First Name", "Last Name", "Email", "Phone Number", "Mobile Phone Number",
         "Job Title", "Associated Company"],
        ["externalId", "firstName", "lastName", "email", "phone", "mobile", "jobTitle",
         "clientName"],
    ),
    (
        "client",
        ["Account ID", "Account Name", "Billing Street", "Billing City",
         "Billing State/Province", "Billing Zip/Postal Code", "Billing Country", "Website"],
        ["externalId", "name", "billingAddress.street", "billingAddress.city",
         "billingAddress.state", "billingAddress.postalCode", "billingAddress.country",
         "website"],
    ),
    (
        "lead",
        ["Lead ID", "First Name", "Last Name", "Company", "Title", "Lead Source", "Lead Status",
         "Email Opt Out"],
        ["externalId", "firstName", "lastName", "company", "jobTitle", "source", "status",
         "doNotContact"],
    ),
    (
        "contact",
        ["Person - First name", "Person - Last name", "Person - Organization",
         "Person - Email - Work", "Person - Phone - Mobile"],
        ["firstName", "lastName", "clientName", "email", "mobile"],
    ),
    (
        "contact",
        ["Person - Name", "Person - Organisation", "Person - Email - Work"],
        ["fullName", "clientName", "email"],
    ),
    (
        "client",
        ["Organisation - ID", "Organisation - Name", "Organisation - Address"],
        ["externalId", "name", "billingAddress.street"],
    ),
    (
        "client",
        ["Kunden-Nr.", "Firma", "Straße", "PLZ", "Ort", "Land", "USt-IdNr.", "Telefon",
         "E-Mail-Adresse", "Umsatz", "Währung", "Zahlungsziel (Tage)", "Bemerkungen"],
        ["externalId", "name", "billingAddress.street", "billingAddress.postalCode",
         "billingAddress.city", "billingAddress.country", "taxId", "phone", "email", "revenue",
         "currency", "paymentTermsDays", "notes"],
    ),
    (
        "contact",
        ["Vorname", "Nachname", "Firma", "Abteilung", "Funktion", "E-Mail-Adresse",
         "Telefon geschäftlich", "Mobiltelefon"],
        ["firstName", "lastName", "clientName", "department", "jobTitle", "email", "phone",
         "mobile"],
    ),
    (
        "product",
        ["Artikel-Nr.", "Bezeichnung", "Beschreibung", "Einheit", "VK netto", "Währung",
         "MwSt. %", "Warengruppe"],
        ["sku", "name", "description", "unitCode", "unitPrice", "currency", "taxRate", "tags"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "headings", "targets"), EXPORTS)
def test_headings_of_other_systems_are_known(
    kind: str, headings: list[str], targets: list[str]
) -> None:
    columns, problems = plan_columns(headings, Options(type=kind))
    assert problems == []
    assert [column.target for column in columns] == targets


@pytest.mark.parametrize("kind", TYPES)
def test_every_usual_heading_leads_to_a_property(kind: str) -> None:
    assert set(usual_headings(kind).values()) <= set(properties_of(kind))


def test_of_twousual_headings_the_first_is_taken_and_a_named_one_goes_before() -> None:
    headings = ["Work email", "Email", "Mail"]
    _, refused = plan_columns(headings, Options(type="contact"))
    problem = "is the same property as column 2"
    assert refused == [("Work email", problem), ("Mail", problem)]
    columns, problems = plan_columns(headings, Options(type="contact", unknown_columns=IGNORE))
    assert problems == [] and [column.target for column in columns] == [None, "email", None]


def test_what_is_not_recognised_is_left_out_where_that_is_wanted() -> None:
    ignoring = Options(type="client", unknown_columns=IGNORE)
    columns, problems = plan_columns(["name", "Rang"], ignoring)
    assert problems == [] and [column.target for column in columns] == ["name", None]
    _, mapped = plan_columns(
        ["name", "Rang"], Options(type="client", unknown_columns=IGNORE, mapping={"Rang": "rank"})
    )
    assert mapped == [("Rang", "is mapped to rank, which is no property")]
    _, nothing = plan_columns(["Rang"], Options(type="client", unknown_columns=IGNORE))
    assert nothing == [("", "No column is a property.")]


COUNTRIES = [
    ("DE", "Germany", "Deutschland", "Allemagne", "Alemania", "Germania", "Duitsland", "Niemcy"),
    ("CH", "Switzerland", "Schweiz", "Suisse", "Suiza", "Svizzera", "Zwitserland", "Szwajcaria"),
    ("GB", "United Kingdom", "UK", "Great Britain", "Großbritannien", "Royaume-Uni"),
    ("US", "USA", "U.S.A.", "United States", "Vereinigte Staaten", "États-Unis"),
    ("NL", "Netherlands", "Holland", "Niederlande", "nl"),
]


@pytest.mark.parametrize("names", COUNTRIES)
def test_a_country_is_known_by_its_name(names: tuple[str, ...]) -> None:
    assert {country_code(name) for name in names} == {names[0]}


def test_what_is_no_country_is_none() -> None:
    assert country_code("Atlantis") is None and country_code("") is None


AMOUNTS = [
    ("1.234,50 €", "1.234,50", ("EUR",)),
    ("€1,200", "1,200", ("EUR",)),
    ("CHF 1'200.50", "1'200.50", ("CHF",)),
    ("1200 eur", "1200", ("EUR",)),
    ("-5 zł", "-5", ("PLN",)),
    ("$5", "5", read_currency("$")),
    ("12", "12", ()),
    ("12 pcs", "12 pcs", ()),
    ("", "", ()),
]


@pytest.mark.parametrize(("cell", "number", "known"), AMOUNTS)
def test_a_currency_stands_beside_an_amount(cell: str, number: str, known: tuple[str, ...]) -> None:
    assert without_currency(cell) == (number, known)


def read(kind: str, headings: list[str], cells: list[str]) -> tuple[dict, list]:  # type: ignore[type-arg]
    plan = Plan(headings, Options(type=kind))
    plan.see(cells)
    return plan.row_values(cells)


def test_the_sign_of_an_amount_says_the_currency_of_the_record(app: Flask) -> None:
    with app.app_context():
        values, problems = read("client", ["name", "revenue"], ["Acme", "1.234,50 €"])
        assert problems == [] and values == {
            "name": "Acme", "revenue": Decimal("1234.50"), "currency": "EUR",
        }  # fmt: skip
        _, several = read("client", ["revenue"], ["$1,200.00"])
        assert "could be in USD, CAD" in several[0][1]
        values, problems = read("client", ["revenue", "currency"], ["$1,200.00", "CAD"])
        assert problems == [] and values["currency"] == "CAD"
        _, other = read("client", ["revenue", "currency"], ["€1,200.00", "CHF"])
        assert other == [("revenue", "is in EUR, the record in CHF")]
        _, two = read("client", ["revenue", "creditLimit"], ["€5", "£5"])
        assert two == [("creditLimit", "is in GBP, the record in EUR")]


def test_a_currency_country_and_domain_are_taken_as_people_write_them(app: Flask) -> None:
    headings = ["Währung", "Land", "Webseite"]
    with app.app_context():
        values, problems = read("client", headings, ["€", "Österreich", "acme.example/shop"])
        assert problems == [] and values == {
            "currency": "EUR", "billing_country": "AT", "website": "https://acme.example/shop",
        }  # fmt: skip
        _, problems = read("client", ["currency"], ["kr"])
        assert problems == [("currency", "could be SEK, NOK, DKK or ISK: write its code")]
        values, problems = read("client", headings, ["EUR", "Atlantis", "not a domain"])
        assert (
            problems == [("billingAddress.country", UNKNOWN_COUNTRY)]
            and values["website"] == "not a domain"
        )


def test_a_heading_that_is_none_is_still_refused(app: Flask) -> None:
    with app.app_context(), pytest.raises(ValidationError):
        Plan(["name", "Rang"], Options(type="client"))


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", TYPES)
def test_a_value_is_known_by_the_word_that_pages_show_for_it(
    app: Flask, kind: str, language: str
) -> None:
    columns = RULES[kind].table.c
    choices = [
        (target, attribute, value)
        for target, attribute in properties_of(kind).items()
        if attribute in columns
        for value in columns[attribute].info.get("allowed", ())
    ]
    assert choices
    with app.app_context():
        for target, attribute, value in choices:
            for text in (value, value.upper(), word_text(value, language)):
                assert read(kind, [target], [text]) == ({attribute: value}, []), text
        assert read(kind, choices[0][:1], ["Narnia"])[0] == {choices[0][1]: "Narnia"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_known_by_its_name(app: Flask, language: str) -> None:
    with app.app_context():
        for text in (language_names(language)["de"], "de", "DE"):
            assert read("client", ["language"], [text]) == ({"language": "de"}, [])
        assert read("client", ["language"], ["de-AT"])[0] == {"language": "de-AT"}
