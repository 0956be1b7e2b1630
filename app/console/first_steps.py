"""First steps of an organisation: seen from what is there, until all are done or closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Response
from sqlalchemy import ColumnElement, exists, select

from app.console import session
from app.console.area import console, see_other
from app.console.language import marked, translated
from app.db.engines import read_engine
from app.http.security import current_caller, requires
from app.models.invoice import Invoice
from app.models.user import ApiKey, User
from app.models.webhook import WebhookEndpoint
from app.permissions import allowed
from app.settings import Organisation, Seller, change_settings

GROUP = "console"
# What makes the list whole, and may close it.
_RIGHT = "settings:update"


@dataclass(frozen=True)
class FirstStep:
    """Something to begin with: what it is for, where it is done, and whether it is."""

    title: str
    why: str
    link: str
    is_done: bool


# (right, link, title, why) by what tells that it is done
_STEPS: Mapping[str, tuple[str, str, str, str]] = {
    "seller": (
        "settings:update", "settings/seller", marked("Company"),
        marked("Name, address and tax number: they stand on every invoice."),
    ),
    "logo": (
        "settings:update", "settings/logo", marked("Logo"),
        marked("It stands at the top of documents."),
    ),
    "bank": (
        "settings:update", "settings/bank", marked("Bank"),
        marked("Where clients pay to, printed with a code that their bank's app reads."),
    ),
    "users": (
        "users:manage", "users", marked("Users"),
        marked("An account for each colleague, with the roles that their work needs."),
    ),
    "invoice": (
        "invoices:create", "invoices/new", marked("First invoice"),
        marked("Write a draft and send it: it gets its number then."),
    ),
    "key": (
        "api-keys:manage", "api-keys", marked("API key"),
        marked("For a program that reads or writes records."),
    ),
    "webhook": (
        "webhooks:create", "webhooks", marked("Webhook"),
        marked("Tells another program at once what has happened here."),
    ),
}  # fmt: skip


def first_steps(settings: Organisation) -> Sequence[FirstStep]:
    """What the caller may do of them; empty where they are closed, or all done."""
    caller = current_caller()
    if not settings.console.first_steps or not allowed(caller, _RIGHT):
        return ()
    done = _done(settings)
    steps = [
        FirstStep(translated(title), translated(why), link, done[name])
        for name, (right, link, title, why) in _STEPS.items()
        if allowed(caller, right)
    ]
    return () if all(step.is_done for step in steps) else steps


def _done(settings: Organisation) -> dict[str, bool]:
    seller = settings.seller
    there: dict[str, ColumnElement[bool]] = {
        # The second, beside the account that came with the product.
        "users": exists(
            select(User.id).where(User.kind == "person", User.status == "active").offset(1).limit(1)
        ),
        "invoice": exists(select(Invoice.id).where(Invoice.number.is_not(None))),
        "key": exists(select(ApiKey.id).where(ApiKey.revoked_at.is_(None))),
        "webhook": exists(select(WebhookEndpoint.id)),
    }
    statement = select(*(counts.label(name) for name, counts in there.items()))
    with read_engine().connect() as connection:
        counts = connection.execute(statement).mappings().one()
    return {
        "seller": seller.name != Seller().name
        and all((seller.street, seller.city, seller.country))
        and any((seller.tax_id, seller.registration_number)),
        "logo": settings.logo.sha256 is not None,
        "bank": settings.bank.iban is not None,
        **{name: bool(value) for name, value in counts.items()},
    }


@console.post("/first-steps")
@requires(_RIGHT)
def close_first_steps() -> Response:
    """Leave the list out of the first page, for everybody."""
    change_settings(GROUP, {"firstSteps": False})
    message = translated("The first steps are closed. Organisation, Console shows them again.")
    return see_other(f"{session.ROOT}/", message)
