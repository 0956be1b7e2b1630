"""Administration: keys that are shown once, users, the audit log."""

from __future__ import annotations

import re

from flask.testing import FlaskClient

from tests.console.conftest import PASSWORD, SignIn

KEY = re.compile(r'<code class="secret">([^<]+)</code>')


def test_a_key_is_made_shown_once_used_and_revoked(sign_in: SignIn, client: FlaskClient) -> None:
    browser = sign_in("Admin")
    made = browser.submit("api-keys", name="ERP", role="Sales", scopes=["clients:read"], days="90")
    found = KEY.search(made.text)
    assert found is not None
    headers = {"X-API-Key": found[1]}
    assert client.get("/odata/Clients", headers=headers).status_code == 200
    assert client.get("/odata/Leads", headers=headers).status_code == 403
    later = browser.get("api-keys").text
    assert found[1] not in later
    assert "ERP" in later and "clients:read" in later
    key_id = re.findall(r"/api-keys/(\d+)/revoke", later)[0]
    assert browser.submit(f"api-keys/{key_id}/revoke").status_code == 303
    assert client.get("/odata/Clients", headers=headers).status_code == 401


def test_a_scope_that_the_role_lacks_is_refused(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit(
        "api-keys", name="ERP", role="Viewer", scopes=["clients:delete"]
    )
    assert answer.status_code == 400
    assert "has no permission clients:delete" in answer.text


def test_a_user_is_made_signs_in_is_disabled_and_is_out(
    sign_in: SignIn, client: FlaskClient
) -> None:
    browser = sign_in("Admin")
    made = browser.submit(
        "users", username="new.one", displayName="New One", password=PASSWORD, roles=["Sales"]
    )
    assert made.status_code == 303
    form = {"username": "new.one", "password": PASSWORD}
    assert client.post("/admin/sign-in", data=form).status_code == 303
    key = re.findall(r"/users/(\d+)", browser.get("users").text)[-1]
    assert browser.submit(f"users/{key}", step="disabled").status_code == 303
    assert client.get("/admin/").status_code == 303
    reset = browser.submit(f"users/{key}", step="reset")
    assert KEY.search(reset.text) is not None


def test_a_short_password_is_refused_with_its_reason(sign_in: SignIn) -> None:
    answer = sign_in("Admin").submit("users", username="new.one", password="short", roles="Sales")
    assert answer.status_code == 400
    assert "at least 12 characters" in answer.text


def test_the_last_administrator_stays(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = re.findall(r"/users/(\d+)", browser.get("users").text)[0]
    assert browser.submit(f"users/{key}", step="disabled").status_code in (400, 403, 409)


def test_the_audit_log_shows_what_was_and_what_is(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = browser.make("clients", name="Before")
    browser.submit(f"clients/{key}/edit", name="After", version='W/"1"')
    log = browser.get(f"audit?entity=Client&key={key}&action=client.upd").text
    assert "<del>Before</del>" in log and "<ins>After</ins>" in log
    assert "client.created" not in log
