"""``flask --app wsgi user ...`` and ``api-key ...``: accounts without the API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any, ParamSpec

import click
from flask import Flask
from flask.cli import AppGroup
from sqlalchemy import select

from app.auth import api_keys, users
from app.auth.users import user_dicts
from app.db import records
from app.db.engines import transaction
from app.db.types import iso_instant
from app.http.security import acting_as, system_caller
from app.models.user import ApiKey, User
from app.permissions import ROLES

Parameters = ParamSpec("Parameters")


def init_app(app: Flask) -> None:
    """Add the commands to ``app``."""
    app.cli.add_command(user)
    app.cli.add_command(api_key)


def in_transaction(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Run a command as the operator, all of it or nothing."""

    @wraps(command)
    def run(*args: Parameters.args, **options: Parameters.kwargs) -> None:
        with transaction(), acting_as(system_caller("cli")):
            command(*args, **options)

    return run


@click.group(cls=AppGroup)
def user() -> None:
    """Accounts of people: list, make, disable and unlock them, set their passwords.

    What a running service knows of an account changes at its next request; no restart is needed.
    """


@user.command("create")
@click.argument("username")
@click.option("--email", required=True, help="E-mail address.")
@click.option("--name", "display_name", help="Name to show; the user name if left out.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    required=True,
    help=f"{', '.join(ROLES)}, or a role of your own; may be given several times.",
)
@click.option("--language", default="en", show_default=True, help="Language, such as de.")
@click.option("--timezone", default="UTC", show_default=True, help="Such as Europe/Berlin.")
@click.password_option(
    help="Asked for when left out, which keeps it out of the shell's history: 12 characters or"
    " more, none of the common ones."
)
@in_transaction
def create_user(**account: Any) -> None:
    """Make an account that can sign in.

    \b
    flask --app wsgi user create anna --email anna@example.com --role Sales
    """
    user_id = users.create_user(**account)
    click.echo(f"User {account['username']} has id {user_id}.")


@user.command("disable")
@click.argument("username")
@in_transaction
def disable_user(username: str) -> None:
    """Shut an account: all its sessions end at once, its records stay.

    The last administrator cannot be disabled.
    """
    users.update_user(_user_id(username), {"status": "disabled"})
    click.echo(f"User {username} is disabled and signed out everywhere.")


@user.command("unlock")
@click.argument("username")
@in_transaction
def unlock_user(username: str) -> None:
    """End the lock that five wrong passwords brought about."""
    users.unlock_user(_user_id(username))
    click.echo(f"User {username} may sign in again.")


@user.command("list")
@in_transaction
def list_users() -> None:
    """Show the accounts: id, user name, status, roles, e-mail address."""
    connection = records.connection()
    people = select(*User.__table__.c).where(User.kind == "person").order_by(User.username_key)
    for account in user_dicts(connection, connection.execute(people)):
        roles = ", ".join(account["roles"]) or "no role"
        _line(account["id"], account["username"], account["status"], roles, account["email"])


@user.command("reset-password")
@click.argument("username")
@click.option(
    "--password", help="The new one; left out, a random one is made and printed this once."
)
@in_transaction
def reset_password(username: str, password: str | None) -> None:
    """Set the password of somebody who forgot it: all sessions end, a lock ends too."""
    new_password = users.reset_password(_user_id(username), password)
    click.echo(f"User {username} has a new password and is signed out everywhere.", err=True)
    if new_password is not None:
        click.echo(new_password)


@click.group("api-key", cls=AppGroup)
def api_key() -> None:
    """Keys of integrations: list, make and revoke them."""


@api_key.command("list")
@in_transaction
def list_api_keys() -> None:
    """Show the keys by their beginnings: prefix, status, role, scopes, last use, name."""
    keys: Any = records.connection().execute(api_keys.KEYS.order_by(ApiKey.id))
    for row in keys:
        properties = api_keys.api_key_dict(row)
        used = properties["lastUsedAt"]
        _line(
            properties["prefix"], properties["status"], properties["role"],
            ", ".join(properties["scopes"]) or "all of its role",
            f"used {iso_instant(used)}" if used else "never used", properties["name"],
        )  # fmt: skip


@api_key.command("create")
@click.argument("name")
@click.option("--role", required=True, help=f"{', '.join(ROLES)}, or a role of your own.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    help="A permission such as clients:read; may be given several times. Without any the key may"
    " do all that its role may.",
)
@click.option(
    "--expires",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day, UTC, at whose beginning the key ends; never if left out.",
)
@in_transaction
def create_api_key(name: str, role: str, scopes: tuple[str, ...], expires: datetime | None) -> None:
    """Make a key, and print it this once.

    \b
    flask --app wsgi api-key create ERP --role Viewer --scope clients:read --expires 2027-12-31
    """
    expires_at = expires.replace(tzinfo=UTC) if expires else None
    new_key = api_keys.create_api_key(name=name, role=role, scopes=scopes, expires_at=expires_at)
    click.echo(new_key.key)
    click.echo("Keep it now: only its digest is stored.", err=True)


@api_key.command("revoke")
@click.argument("prefix")
@in_transaction
def revoke_api_key(prefix: str) -> None:
    """End the key that begins with PREFIX, such as bpk_live_4fJ2kQ9x, at once."""
    statement = select(ApiKey.id).where(ApiKey.prefix == prefix)
    key_id = records.connection().execute(statement).scalar_one_or_none()
    if key_id is None:
        raise click.ClickException(f"There is no API key {prefix}.")
    api_keys.revoke_api_key(key_id)
    click.echo(f"API key {prefix} is revoked.")


def _line(*values: Any) -> None:
    """One record, its values apart by tabs: for people and for ``cut``."""
    texts = ("" if value is None else str(value) for value in values)
    click.echo("\t".join(" ".join(text.split()) for text in texts))


def _user_id(username: str) -> int:
    user_id = users.find_user_id(username)
    if user_id is None:
        raise click.ClickException(f"There is no user {username}.")
    return user_id
