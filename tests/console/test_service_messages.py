"""Messages of the service on a page."""

from __future__ import annotations

import pytest
from flask import Flask

from app.console.service_messages import MESSAGES, said
from app.console.wording import told


def test_a_message_is_told_as_it_is_where_no_page_is_made() -> None:
    assert said("must be more than 0") == "must be more than 0"
    assert said("") == ""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("must be more than 0", "muss größer als 0 sein"),
        ("must be at most 12.50", "darf höchstens 12.50 sein"),
        (
            "must be at most the credit that the client has",
            "darf höchstens das Guthaben des Kunden sein",
        ),
        ("There is no such page.", "Diese Seite gibt es nicht."),
        ("There is no invoice 7.", "Das gibt es nicht: invoice 7."),
        ("amount: must be more than 0", "Betrag: muss größer als 0 sein"),
        ("lines[0].unitPrice: is missing", "Einzelpreis: fehlt"),
        ("lines[0].unitPrice: of another kind", "lines[0].unitPrice: of another kind"),
        ("2 fields have problems.", "2 Felder haben Probleme."),
        ("Nobody has translated this.", "Nobody has translated this."),
    ],
)
def test_a_message_is_recognised_by_its_words(app: Flask, message: str, expected: str) -> None:
    with app.test_request_context("/admin/", headers={"Accept-Language": "de"}):
        assert told(message) == expected
        assert told(expected) == expected
    with app.test_request_context("/admin/"):
        assert told(message).rpartition(": ")[2] == message.rpartition(": ")[2]


def test_a_field_is_called_as_its_form_calls_it(app: Flask) -> None:
    with app.test_request_context("/admin/"):
        assert told("lines[0].unitPrice: is missing") == "Unit price: is missing"
        assert told("LineItems: must have at most 1,000 entries").startswith("Line items: must")
        assert told("lines[0].unitPrice: of another kind") == "lines[0].unitPrice: of another kind"


def test_no_message_is_there_twice() -> None:
    assert len(set(MESSAGES)) == len(MESSAGES)


def test_a_form_says_what_is_wrong_in_the_language_of_the_page(app: Flask) -> None:
    client = app.test_client()
    headers = {"Accept-Language": "de"}
    form = {"username": "nobody", "password": "correct horse"}
    page = client.post("/admin/sign-in", data=form, headers=headers).text
    assert "Benutzername oder Passwort ist falsch." in page
