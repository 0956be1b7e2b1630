"""Accounts and keys from the command line."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models.event import AuditRecord, Event

PASSWORD = "three-blue-kettles"
ANNA = ("user", "create", "anna", "--email", "anna@example.com", "--password", PASSWORD)


def run(app: Flask, *args: str, **options: Any) -> Any:
    return app.test_cli_runner().invoke(args=list(args), **options)


def log_in(client: FlaskClient) -> int:
    body = {"username": "anna", "password": PASSWORD}
    return client.post("/api/auth/login", json=body).status_code


def test_a_user_is_made_disabled_and_cannot_sign_in(
    app: Flask, client: FlaskClient, session: Session
) -> None:
    made = run(app, *ANNA, "--role", "Sales", "--role", "Support", "--timezone", "Europe/Berlin")
    assert (made.exit_code, made.output) == (0, "User anna has id 1.\n")
    body = {"username": "anna", "password": PASSWORD}
    token = client.post("/api/auth/login", json=body).json["accessToken"]
    headers = {"Authorization": f"Bearer {token}"}
    me = client.get("/api/auth/me", headers=headers)
    assert me.json["roles"] == ["Sales", "Support"]
    assert me.json["timezone"] == "Europe/Berlin"
    disabled = run(app, "user", "disable", "ANNA")
    assert disabled.exit_code == 0
    assert (
        client.get("/api/auth/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    )
    assert log_in(client) == 401
    vias = session.execute(select(AuditRecord.via).where(AuditRecord.action.like("user.%")))
    assert set(vias.scalars()) == {"cli"}
    assert set(session.execute(select(Event.type)).scalars()) == {"user.created", "user.disabled"}


def test_the_password_is_asked_for(app: Flask, client: FlaskClient) -> None:
    answers = f"{PASSWORD}\n{PASSWORD}\n"
    made = run(app, *ANNA[:-2], "--role", "Sales", input=answers)
    assert made.exit_code == 0
    assert PASSWORD not in made.output
    assert log_in(client) == 200


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((*ANNA[:-1], "short", "--role", "Sales"), "at least 12 characters"),
        ((*ANNA, "--role", "King"), "there is no role King"),
        (("user", "disable", "nobody"), "There is no user nobody"),
        (("user", "unlock", "nobody"), "There is no user nobody"),
        (("api-key", "create", "ERP", "--role", "King"), "there is no role King"),
        (
            ("api-key", "create", "ERP", "--role", "Viewer", "--scope", "x:y"),
            "is no permission of the role Viewer",
        ),
        (("api-key", "revoke", "bpk_live_nothing0"), "There is no API key"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(
    app: Flask, session: Session, args: tuple[str, ...], problem: str
) -> None:
    done = run(app, *args)
    assert done.exit_code == 1
    assert done.output.startswith("Error: ") and problem in done.output
    assert done.output.count("\n") == 1
    assert session.connection().execute(select(AuditRecord)).all() == []


def test_each_of_several_mistakes_has_a_line(app: Flask) -> None:
    done = run(app, *ANNA[:-1], "short", "--role", "King")
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "password: must have at least 12 characters", "roles: there is no role King",
        "Error: 2 fields have problems.",
    ]  # fmt: skip


def test_the_last_administrator_stays(app: Flask) -> None:
    assert run(app, *ANNA, "--role", "Admin").exit_code == 0
    done = run(app, "user", "disable", "anna")
    assert "last administrator" in done.output


def test_a_locked_user_is_unlocked(app: Flask, client: FlaskClient) -> None:
    run(app, *ANNA, "--role", "Sales")
    for _ in range(5):
        client.post("/api/auth/login", json={"username": "anna", "password": "wrong"})
    assert log_in(client) == 423
    assert run(app, "user", "unlock", "anna").exit_code == 0
    assert log_in(client) == 200


def test_a_key_is_printed_once_and_revoked_by_its_prefix(app: Flask, client: FlaskClient) -> None:
    made = run(app, "api-key", "create", "ERP", "--role", "Viewer", "--scope", "clients:read",
               "--expires", "2099-12-31")  # fmt: skip
    key = made.stdout.strip()
    shown = client.get("/api/auth/me", headers={"X-API-Key": key}).json
    assert shown["auth"]["scopes"] == ["clients:read"]
    assert shown["auth"]["expiresAt"] == "2099-12-31T00:00:00.000Z"
    assert run(app, "api-key", "revoke", key[:17]).exit_code == 0
    assert client.get("/api/auth/me", headers={"X-API-Key": key}).status_code == 401


@pytest.mark.parametrize("command", [("user", "create"), ("api-key", "create")])
def test_help_shows_an_example_to_paste(app: Flask, command: tuple[str, ...]) -> None:
    assert "flask --app wsgi" in run(app, *command, "--help").output


def test_accounts_and_keys_are_listed_without_their_secrets(app: Flask) -> None:
    run(app, *ANNA, "--role", "Sales", "--role", "Support")
    run(app, "user", "create", "bert", "--email", "b@example.com", "--password", PASSWORD, "--role",
        "Viewer")  # fmt: skip
    run(app, "user", "disable", "bert")
    listed = run(app, "user", "list")
    assert [line.split("\t") for line in listed.output.splitlines()] == [
        ["1", "anna", "active", "Sales, Support", "anna@example.com"],
        ["2", "bert", "disabled", "Viewer", "b@example.com"],
    ]
    key = run(app, "api-key", "create", "ERP link", "--role", "Viewer").output.splitlines()[0]
    (line,) = run(app, "api-key", "list").output.splitlines()
    prefix, *rest = line.split("\t")
    assert key.startswith(prefix) and key not in line
    assert rest == ["active", "Viewer", "all of its role", "never used", "ERP link"]
    run(app, "api-key", "revoke", prefix)
    assert "\trevoked\t" in run(app, "api-key", "list").output


@pytest.mark.parametrize("given", [None, "four-green-kettles"])
def test_a_forgotten_password_is_reset(app: Flask, client: FlaskClient, given: str | None) -> None:
    run(app, *ANNA, "--role", "Sales")
    args = ("--password", given) if given else ()
    done = run(app, "user", "reset-password", "Anna", *args)
    assert done.exit_code == 0, done.output
    password = given or done.stdout.strip()
    assert log_in(client) == 401
    body = {"username": "anna", "password": password}
    assert client.post("/api/auth/login", json=body).status_code == 200
    short = run(app, "user", "reset-password", "anna", "--password", "short")
    assert (short.exit_code, "at least 12 characters" in short.output) == (1, True)
    assert run(app, "user", "reset-password", "nobody").exit_code == 1
