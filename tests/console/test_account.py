"""One's own account: what everybody may change of it, whatever the role."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.console.conftest import PASSWORD, SignIn

OTHER = "seven green lanterns"


@pytest.mark.parametrize("role", ["Viewer", "Sales", "Admin"])
def test_everybody_finds_the_page_and_chooses_the_language_of_the_pages(
    sign_in: SignIn, role: str
) -> None:
    browser = sign_in(role)
    assert 'href="/admin/account"' in browser.get("").text
    assert browser.submit("account", displayName="Ada Berg", language="de").status_code == 303
    text = browser.get("account").text
    assert "Gespeichert." in text and 'value="Ada Berg"' in text
    assert '<option value="de" selected>Deutsch (de)</option>' in text


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"currentPassword": "wrong"}, "currentPassword"),
        ({"newPassword": "short", "repeated": "short"}, "newPassword"),
        ({"repeated": "seven green lamps"}, "repeated"),
    ],
    ids=["the current one is wrong", "the new one is short", "not the same twice"],
)
def test_a_password_that_is_refused_is_said_at_its_field(
    sign_in: SignIn, fields: dict[str, str], field: str
) -> None:
    typed = {"currentPassword": PASSWORD, "newPassword": OTHER, "repeated": OTHER, **fields}
    answer = sign_in("Viewer").submit("account/password", **typed)
    assert answer.status_code == 400
    assert f'id="f-{field}-p"' in answer.text
    assert OTHER not in answer.text


def test_a_new_password_ends_the_other_sessions_only(sign_in: SignIn, client: FlaskClient) -> None:
    browser = sign_in("Viewer")
    form = {"username": "viewer", "password": PASSWORD}
    assert client.post("/admin/sign-in", data=form).status_code == 303
    typed = {"currentPassword": PASSWORD, "newPassword": OTHER, "repeated": OTHER}
    assert browser.submit("account/password", **typed).status_code == 303
    assert browser.get("").status_code == 200
    assert client.get("/admin/").status_code == 303
    assert client.post("/admin/sign-in", data=form).status_code == 401
    assert client.post("/admin/sign-in", data={**form, "password": OTHER}).status_code == 303


def test_own_sessions_are_shown_and_ended_and_nobody_elses(
    sign_in: SignIn, client: FlaskClient
) -> None:
    browser = sign_in("Viewer")
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0"
    form = {"username": "viewer", "password": PASSWORD}
    client.post("/admin/sign-in", data=form, headers={"User-Agent": agent})
    text = browser.get("account").text
    assert ">Firefox, Windows<" in text
    (key,) = re.findall(r"/account/sessions/([^/]+)/end", text)  # one's present one has no button
    assert sign_in("Sales").submit(f"account/sessions/{key}/end").status_code == 404
    assert browser.submit(f"account/sessions/{key}/end").status_code == 303
    assert client.get("/admin/").status_code == 303
