"""Who gets into the console, how long they stay, and what no other site can make them do."""

from __future__ import annotations

import html
import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models.client import Client
from tests.console.conftest import PASSWORD, SignIn


def test_nobody_gets_in_without_signing_in(client: FlaskClient) -> None:
    answer = client.get("/admin/clients/?q=a")
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/admin/sign-in?next=/admin/clients/?q=a"


def test_signing_in_goes_on_to_the_page_that_was_asked_for(
    sign_in: SignIn, client: FlaskClient
) -> None:
    sign_in("Sales")
    form = {"username": "sales", "password": PASSWORD, "next": "/admin/leads/"}
    assert client.post("/admin/sign-in", data=form).headers["Location"] == "/admin/leads/"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/admin//evil.example", "/odata/",
               "/admin/\\evil.example", "javascript:alert(1)"],
)  # fmt: skip
def test_signing_in_never_leads_to_another_site(
    sign_in: SignIn, client: FlaskClient, target: str
) -> None:
    sign_in("Sales")
    form = {"username": "sales", "password": PASSWORD, "next": target}
    assert client.post("/admin/sign-in", data=form).headers["Location"] == "/admin/"


def test_a_wrong_password_is_said_on_the_page(sign_in: SignIn, client: FlaskClient) -> None:
    sign_in("Sales")
    form = {"username": "sales", "password": "wrong <b>password</b>"}
    answer = client.post("/admin/sign-in", data=form)
    assert answer.status_code == 401
    assert "User name or password is wrong." in answer.text
    assert "<b>" not in answer.text


def test_the_cookie_is_for_the_console_and_for_no_script(app: Flask, sign_in: SignIn) -> None:
    sign_in("Sales")
    client = app.test_client()
    client.post("/admin/sign-in", data={"username": "sales", "password": PASSWORD})
    cookie = client.get_cookie("console", path="/admin")
    assert cookie is not None
    assert (cookie.http_only, cookie.same_site, cookie.path) == (True, "Lax", "/admin")
    assert client.get("/odata/Clients").status_code == 401


def test_signing_out_ends_the_session(sign_in: SignIn) -> None:
    browser = sign_in("Sales")
    assert browser.submit("sign-out").status_code == 303
    assert browser.get("").headers["Location"].startswith("/admin/sign-in")


def test_a_form_sends_the_token_of_its_session_along(sign_in: SignIn) -> None:
    browser = sign_in("Sales")
    assert f'name="csrf" value="{browser.token()}"' in browser.get("clients/new").text


def test_a_form_of_another_site_does_nothing(sign_in: SignIn, session: Session) -> None:
    browser = sign_in("Sales")
    without = browser.client.post("/admin/clients/new", data={"name": "Forged"})
    wrong = browser.client.post("/admin/clients/new", data={"name": "Forged", "csrf": "x"})
    foreign = browser.client.post(
        "/admin/clients/new",
        data={"name": "Forged", "csrf": browser.token()},
        headers={"Sec-Fetch-Site": "cross-site"},
    )
    assert {without.status_code, wrong.status_code, foreign.status_code} == {403}
    assert session.scalar(select(func.count()).select_from(Client)) == 0


def test_no_other_site_signs_a_browser_in(sign_in: SignIn, app: Flask) -> None:
    sign_in("Sales")
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 303)):
        answer = app.test_client().post(
            "/admin/sign-in",
            data={"username": "sales", "password": PASSWORD},
            headers={"Sec-Fetch-Site": site},
        )
        assert answer.status_code == status, answer.text
        assert ("Set-Cookie" in answer.headers) is (status == 303)


def test_pages_run_nothing_but_the_services_own_files(sign_in: SignIn) -> None:
    answer = sign_in("Sales").get("")
    assert "default-src 'none'; script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


def test_style_and_script_need_nobody_signed_in(client: FlaskClient) -> None:
    assert client.get("/admin/assets/console.css").content_type.startswith("text/css")
    assert client.get("/admin/assets/console.js").content_type.startswith("text/javascript")
    assert client.get("/admin/assets/..%2farea.py").status_code in (303, 404)
    assert client.get("/admin/assets/nothing.css").status_code == 404


def test_what_was_typed_when_the_session_ended_goes_on_after_signing_in(
    sign_in: SignIn, app: Flask
) -> None:
    sign_in("Admin")
    client = app.test_client()
    typed = {"name": "Acme <b>", "notes": "Long thought", "password": "tell nobody", "csrf": "old"}
    ended = client.post("/admin/clients/new", data=typed)
    assert ended.status_code == 401 and "Your session has ended" in ended.text
    assert "tell nobody" not in ended.text and "Acme <b>" not in ended.text
    kept = html.unescape(re.search('name="kept" value="([^"]*)"', ended.text)[1])  # type: ignore[index]
    form = {"username": "admin", "password": PASSWORD, "next": "/admin/clients/new", "kept": kept}
    wrong = client.post("/admin/sign-in", data={**form, "password": "wrong"})
    assert wrong.status_code == 401 and "Long thought" in wrong.text
    back = client.post("/admin/sign-in", data=form)
    assert back.status_code == 200 and "Acme &lt;b&gt;" in back.text
    fields = dict(re.findall('type="hidden" name="([^"]*)" value="([^"]*)"', back.text))
    fields = {name: html.unescape(value) for name, value in fields.items()}
    shown = client.post("/admin/clients/new", data={**fields, "resume": "1"})
    assert shown.status_code == 200 and "Long thought" in shown.text
    assert client.post("/admin/clients/new", data=fields).status_code == 303


def test_a_form_from_before_another_session_is_sent_by_the_new_one(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    old = {"csrf": "old", "name": "Acme"}
    ours = {"Sec-Fetch-Site": "same-origin"}
    late = browser.client.post("/admin/clients/new", data=old, headers=ours)
    assert late.status_code == 403 and "Back to the form" in late.text and "Acme" in late.text
    assert browser.client.post("/admin/clients/new", data=old).text.count("Back to the form") == 0
    other = {"Sec-Fetch-Site": "cross-site"}
    assert "Acme" not in browser.client.post("/admin/clients/new", data=old, headers=other).text


def test_every_form_of_the_console_carries_the_token_of_its_session(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    taken = {}
    for rule in browser.client.application.url_map.iter_rules():
        if rule.endpoint.startswith("console.") and "POST" in (rule.methods or ()):
            address = re.sub(r"<[^>]+>", "1", rule.rule.replace("<path>", "clients"))
            status = browser.client.post(address, data={"name": "Forged"}).status_code
            taken[rule.endpoint.partition(".")[2]] = status
    assert taken.pop("sign_in") == 400
    assert {taken.pop("upload"), taken.pop("take_import")} == {415}  # no form with a file
    assert len(taken) > 40 and set(taken.values()) == {403}
