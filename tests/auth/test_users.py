"""Accounts and keys are checked by what their columns hold, whoever makes or changes them."""

from __future__ import annotations

from typing import Any

import pytest

from app.auth.api_keys import create_api_key
from app.auth.users import create_user, update_user
from app.errors import ValidationError
from app.http.security import Caller
from app.models.user import User
from tests.business import admin
from tests.factories import make_user, rows

__all__ = ["admin"]
ANNA: dict[str, Any] = {
    "username": "anna", "email": "anna@b.example", "display_name": "Anna Berg",
    "password": "three-blue-kettles", "roles": ["Sales"], "language": "de",
    "timezone": "Europe/Berlin",
}  # fmt: skip
WRONG = [
    ("email", "nobody"),
    ("email", f"{'a' * 60}@{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}.example"),
    ("display_name", "x" * 201),
    ("display_name", "a\nb"),
    ("language", "klingon"),
    ("timezone", "Mars/Olympus"),
]
WRONG_NAMES = [("username", name) for name in ("", " ", "x" * 151, "\ufdfa" * 20, "a\u200bb")]
FIELDS = {"display_name": "displayName"}


def fields_of(error: pytest.ExceptionInfo[ValidationError]) -> set[str]:
    return {detail.field for detail in error.value.details}


@pytest.mark.parametrize(("name", "value"), [*WRONG, *WRONG_NAMES])
def test_an_account_is_not_made_of_what_its_columns_do_not_hold(
    admin: Caller, name: str, value: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        create_user(**{**ANNA, name: value})
    assert fields_of(refused) == {FIELDS.get(name, name)}


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_nor_changed_to_it(admin: Caller, name: str, value: str) -> None:
    key = make_user().user_id
    before = rows(User, id=key)
    with pytest.raises(ValidationError) as refused:
        update_user(key, {name: value})
    assert fields_of(refused) == {FIELDS.get(name, name)}
    assert rows(User, id=key) == before


def test_an_account_without_a_name_to_show_shows_the_one_it_signs_in_with(admin: Caller) -> None:
    key = create_user(**{**ANNA, "display_name": None})
    assert rows(User, id=key)[0]["display_name"] == "anna"


@pytest.mark.parametrize("name", ["", "x" * 101, "a\nb"])
def test_the_name_of_a_key_is_checked_too(admin: Caller, name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        create_api_key(name=name, role="Viewer")
    assert fields_of(refused) == {"name"}
