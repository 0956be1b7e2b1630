"""Administration: keys that are shown once, users, the audit log."""

from __future__ import annotations

import re

import pytest
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
    assert "is no permission of the role" in answer.text


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


def test_a_locked_user_is_unlocked(sign_in: SignIn, client: FlaskClient) -> None:
    browser, _ = sign_in("Admin"), sign_in("Sales")
    key = re.findall(r'href="/admin/users/(\d+)">sales<', browser.get("users").text)[0]
    for _ in range(12):
        client.post("/admin/sign-in", data={"username": "sales", "password": "wrong"})
    for path in ("users", f"users/{key}"):
        assert browser.get(path).text.count('value="unlock"') == 1
        assert browser.get(path).text.count("locked until") == 1
    right = {"username": "sales", "password": PASSWORD}
    assert client.post("/admin/sign-in", data=right).status_code != 303
    unlocked = browser.submit(f"users/{key}", step="unlock", page="1")
    assert unlocked.headers["Location"] == f"/admin/users/{key}"
    for path in ("users", f"users/{key}"):
        assert 'value="unlock"' not in browser.get(path).text
        assert "locked until" not in browser.get(path).text
    assert client.post("/admin/sign-in", data=right).status_code == 303
    assert "user.unlocked" in browser.get(f"audit?entity=User&key={key}").text


def test_a_step_that_is_not_known_is_refused_where_it_was_taken(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    key = re.findall(r"/users/(\d+)", browser.get("users").text)[0]
    on_list = browser.submit(f"users/{key}", step="promote")
    on_page = browser.submit(f"users/{key}", step="promote", page="1")
    assert (on_list.status_code, on_page.status_code) == (409, 409)
    assert "This step is not known." in on_list.text and "This step is not known." in on_page.text
    assert "<h1>Users" in on_list.text and "<h1>Users" not in on_page.text
    assert browser.submit("users/987654", step="unlock").status_code == 404


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


def test_older_records_of_the_audit_log_are_below_the_last_that_was_shown(
    sign_in: SignIn,
) -> None:
    browser = sign_in("Admin")
    keys = [browser.make("clients", name=f"Client {number}") for number in range(51)]
    first = browser.get("audit?entity=Client&action=client.created").text
    older = re.search(r'href="(\?[^"]*below=\d+[^"]*)"', first)
    assert older is not None
    second = browser.get(f"audit{older[1].replace('&amp;', '&')}").text
    shown = [re.findall(r"/admin/clients/(\d+)", text) for text in (first, second)]
    assert [len(set(found)) for found in shown] == [50, 1]
    assert set(shown[0]) | set(shown[1]) == {str(key) for key in keys}
    assert set(shown[1]) == {str(min(keys))}
    assert "below=" not in second.replace(older[1], "")


def test_a_user_is_changed_and_the_sessions_ended(sign_in: SignIn) -> None:
    browser, other = sign_in("Admin"), sign_in("Sales")
    found = re.search(r'href="/admin/(users/\d+)">sales<', browser.get("users").text)
    assert found is not None
    form = {"displayName": "Ada", "email": "ada@example.com", "timezone": "Europe/Berlin"}
    assert browser.submit(f"{found[1]}/change", **form, roles=["Support"]).status_code == 303
    shown = browser.get(found[1]).text
    assert 'value="Ada"' in shown and 'value="Support" checked' in shown
    assert other.get("leads/new").status_code == 403
    wrong = browser.submit(f"{found[1]}/change", **{**form, "email": "x"}, roles=["Support"])
    assert wrong.status_code == 400 and 'id="f-email-p"' in wrong.text
    assert "Choose one role" in browser.submit(f"{found[1]}/change", **form).text
    end = re.findall(r"/admin/(sessions/[^/]+/end)", browser.get(found[1]).text)
    assert len(end) == 1 and end[0] in browser.get("sessions").text
    assert browser.submit(end[0]).status_code == 303
    assert other.get("").status_code == 303
    reset = browser.submit(found[1], step="reset", page="1")
    assert KEY.search(reset.text) is not None and "Ada" in reset.text


def test_a_role_is_made_given_changed_and_deleted(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    rights = {"clients:read": "all", "leads:read": "own"}
    assert browser.submit("roles/new", name="Intern", **rights).status_code == 303
    page = browser.get("roles").text
    assert "Intern" in page
    role = re.search(r'href="/admin/(roles/\d+)" dir="auto">Intern', page)
    assert role is not None
    intern = sign_in("Intern")
    assert intern.get("clients/").status_code == 200
    assert intern.get("invoices/").status_code == 403
    changed = browser.submit(role[1], name="Intern", **{"invoices:read": "all"})
    assert changed.status_code == 303
    assert intern.get("invoices/").status_code == 200
    assert intern.get("clients/").status_code == 403
    assert browser.submit(role[1], step="delete").status_code == 409
    wrong = browser.submit("roles/new", name="Intern")
    assert wrong.status_code == 409 and "is taken already" in wrong.text
    assert browser.submit("roles/new", name="").status_code == 400


def test_a_built_in_role_stays(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    assert "stays as it is" in browser.get("roles/2").text
    assert browser.submit("roles/2", name="Boss").status_code == 409
    assert browser.get("roles/12345").status_code == 404
    assert 'value="Manager"' not in browser.get("roles/new?from=2").text


def test_queues_and_limits_are_shown(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    page = browser.get("jobs").text
    assert "Deliveries to webhooks" in page and "gives no sign of life" in page
    assert re.search(r">admin <small>user</small>", page)


@pytest.mark.parametrize("path", ["users/1", "sessions", "roles", "roles/1", "jobs", "mail"])
def test_administration_is_for_administrators(sign_in: SignIn, path: str) -> None:
    browser = sign_in("Manager")
    assert browser.get(path).status_code == 403


@pytest.mark.parametrize(
    "path", ["users/1/change", "sessions/x/end", "roles/new", "roles/1", "mail/1"]
)
def test_nobody_else_changes_anything(sign_in: SignIn, path: str) -> None:
    assert sign_in("Manager").submit(path, name="x").status_code == 403
