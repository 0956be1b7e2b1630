"""Messages of the service on a page."""

from __future__ import annotations

import ast

import pytest
from flask import Flask

from app.console.wording import problem_text, translated_message
from tests.console.messages import (
    LEFT_OUT,
    ROOT,
    SHOWN,
    is_wanted,
    messages,
    messages_in,
)


def test_a_message_is_told_as_it_is_where_no_page_is_made() -> None:
    assert translated_message("must be more than 0") == "must be more than 0"
    assert translated_message("") == ""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("must be more than 0", "muss größer als 0 sein"),
        ("must be at most 12.50", "darf höchstens 12,50 sein"),
        ("must be less than 1,000,000", "muss kleiner als 1.000.000 sein"),
        ("must not be after today, 2026-11-05", "darf nicht nach heute liegen, 05.11.2026"),
        (
            "could be two numbers: write 1000 or 1.00",
            "kann zweierlei sein: schreiben Sie 1000 oder 1,00",
        ),
        ("is Draft", "ist ein Entwurf"),
        ("is required in category AE", "ist erforderlich in der Steuerart AE"),
        (
            "must be at most 1100.00 EUR, the credit that the client has",
            "darf höchstens 1.100,00 EUR sein, das Guthaben des Kunden",
        ),
        (
            "must not credit more than 1190.00 in tax category S at 19 %: no more is left there",
            "in der Steuerart S zu 19 % lassen sich höchstens 1.190,00 gutschreiben: mehr bleibt"
            " dort nicht",
        ),
        ("There is no such page.", "Diese Seite gibt es nicht."),
        ("There is no invoice 7.", "Die Rechnung 7 gibt es nicht."),
        ("There is no opportunity 7.", "Das gibt es nicht: Verkaufschance 7."),
        ("amount: must be more than 0", "Betrag: muss größer als 0 sein"),
        ("lines[0].unitPrice: is missing", "Einzelpreis: fehlt"),
        ("lines[0].unitPrice: of another kind", "Einzelpreis: of another kind"),
        ("soup: of another kind", "soup: of another kind"),
        (
            "A lead in state New cannot become Converted; allowed from here: Contacted, Qualified."
            " Only the operation convert leads to Converted.",
            "Lead im Zustand Neu kann nicht Umgewandelt werden; von hier aus möglich: Kontaktiert,"
            " Qualifiziert. Nur der Vorgang Umwandeln führt zu Umgewandelt.",
        ),
        (
            "'foo' is no event: /docs/guide/events lists them",
            "'foo' ist kein Ereignis: /docs/guide/events nennt sie",
        ),
        ("2 fields have problems.", "2 Felder haben Probleme."),
        ("Nobody has translated this.", "Nobody has translated this."),
    ],
)
def test_a_message_is_recognised_by_its_words(app: Flask, message: str, expected: str) -> None:
    with app.test_request_context("/admin/", headers={"Accept-Language": "de"}):
        assert problem_text(message) == expected
        assert problem_text(expected) == expected
    with app.test_request_context("/admin/"):
        in_english = message.replace("2026-11-05", "Nov 5, 2026").replace("1100.00", "1,100.00")
        assert problem_text(message).rpartition(": ")[2] == in_english.rpartition(": ")[2]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("must be at most 1388.73", "must be at most 1,388.73"),
        ("must be less than 1,000,000", "must be less than 1,000,000"),
        ("must not be after today, 2026-11-05", "must not be after today, Nov 5, 2026"),
        ("must be at most 12 answers", "must be at most 12 answers"),
        ("of another kind: 1388.73", "of another kind: 1388.73"),
    ],
)
def test_numbers_and_days_are_the_readers_in_english_too(
    app: Flask, message: str, expected: str
) -> None:
    with app.test_request_context("/admin/", headers={"Accept-Language": "en-US"}):
        assert problem_text(message) == expected


def test_a_field_is_called_as_its_form_calls_it(app: Flask) -> None:
    with app.test_request_context("/admin/"):
        assert problem_text("lines[0].unitPrice: is missing") == "Unit price: is missing"
        assert problem_text("LineItems: must have at most 1,000 entries").startswith(
            "Line items: must"
        )
        assert problem_text("lines[0].unitPrice: of another kind") == "Unit price: of another kind"


def test_names_of_the_model_are_said_as_people_call_them(app: Flask) -> None:
    with app.test_request_context("/admin/"):
        assert translated_message("must not be before issueDate") == "must not be before issue date"
        assert translated_message("eBay is no name of the model") == "eBay is no name of the model"


def test_every_place_that_is_named_is_there() -> None:
    assert [place for place in (*SHOWN, *LEFT_OUT) if not (ROOT / place).exists()] == []


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("a_new_room/rules.py", True),
        ("invoices/moved.py", True),
        ("bi/reports/moved.py", True),
        ("odata/moved.py", False),
        ("bi/moved.py", False),
    ],
)
def test_a_module_that_moves_keeps_its_translations(module: str, expected: bool) -> None:
    assert is_wanted("must be blue", module, {"must be blue"})
    assert is_wanted("must be red", module, {"must be blue"}) is expected


def test_messages_are_found_where_the_service_says_them() -> None:
    found = set(messages())
    for text in (
        "must be more than 0", "must be between %(a)s and %(b)s", "This link has expired.",
        "Your role does not have the permission %(a)s.", "could be two numbers: write %(a)s",
    ):  # fmt: skip
        assert text in found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('raise NotFoundError(f"There is no part {key}.")', ["There is no part %(a)s."]),
        ('problems.append((name, f"must be 5 % of {most}"))', ["must be 5 %% of %(a)s"]),
        ('"""Whether it must be so."""', []),
        ('fields.String(description="has a description")', []),
    ],
)
def test_a_message_is_a_literal_with_its_places(code: str, expected: list[str]) -> None:
    assert list(messages_in(ast.parse(code))) == expected


def test_a_form_says_what_is_wrong_in_the_language_of_the_page(app: Flask) -> None:
    client = app.test_client()
    headers = {"Accept-Language": "de"}
    form = {"username": "nobody", "password": "correct horse"}
    page = client.post("/admin/sign-in", data=form, headers=headers).text
    assert "Benutzername oder Passwort ist falsch." in page
