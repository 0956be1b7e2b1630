"""The link to a document's page: its key and a seal, so that nobody can make one up.

A link can be shown again and is the same then; withdrawing it changes what the seal is made of
(docs/adr/0030).
"""

from __future__ import annotations

import base64
import hmac
import re
from typing import Any

from flask import current_app, has_request_context, request

from app import audit
from app.clock import utc_now
from app.db import records
from app.errors import InvalidStateError, NotFoundError
from app.extensions import configuration
from app.http.links import service_root
from app.invoices.steps import sendable
from app.models.invoice import Invoice
from app.sealing import Key, derived_keys
from app.settings import organisation

PATH = "/s/i"
_SEAL_BYTES = 16
_TOKEN = re.compile(r"([1-9][0-9]{0,18})-([0-9]{1,9})-([A-Za-z0-9_-]{22})")


def link_token(invoice_id: int, link_version: int) -> str:
    """``17-0-KxYnb3q0…``: the seal has 128 bits."""
    text = f"{invoice_id}-{link_version}"
    return f"{text}-{_seal(text, _keys()[0])}"


def read_token(token: str) -> tuple[int, int] | None:
    """The key of the document and the version of its link, or None where the seal is not ours."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    text, seal = f"{match[1]}-{match[2]}", match[3].encode()
    if not any(hmac.compare_digest(_seal(text, key).encode(), seal) for key in _keys()):
        return None
    return int(match[1]), int(match[2])


def link_for_mail(invoice: Invoice) -> str | None:
    """The address of a document's page for its mail; None where there is no page, or no address.

    Args:
        invoice: ``id`` and ``link_version``.
    """
    root = _root_for_mail()
    if root is None or not organisation().invoicing.public_page:
        return None
    return root + _path(invoice)


def show_link(invoice_id: int) -> dict[str, Any]:
    """The address of an issued document's page, and when the client first opened it.

    Raises: NotFoundError; ForbiddenError; InvalidStateError, it is a draft, or the settings say
        that there are no pages.
    """
    invoice = sendable(invoice_id)
    if invoice.status == "Draft":
        raise InvalidStateError("A draft has no page: issue it first.", [("status", "is Draft")])
    if not organisation().invoicing.public_page:
        raise InvalidStateError("The settings say that documents have no page.")
    root = service_root(request.environ, current_app.config["BASE_URL"])
    return {"id": invoice_id, "url": root + _path(invoice), "viewedAt": invoice.viewed_at}


def withdraw_link(invoice_id: int) -> None:
    """End every link to a document that was given out; the next one is another.

    Raises: NotFoundError; ForbiddenError.
    """
    invoice = sendable(invoice_id)
    values = {
        "link_version": (invoice.link_version or 0) + 1,
        "updated_at": utc_now(),
        "version": invoice.version + 1,
    }
    records.update(Invoice, invoice_id, values)
    audit.record("invoice.link_withdrawn", "Invoice", invoice_id)


def not_there() -> NotFoundError:
    """What a wrong link, a withdrawn one and one to a draft have in common."""
    return NotFoundError("There is nothing behind this link.")


def _path(invoice: Invoice) -> str:
    return f"{PATH}/{link_token(invoice.id, invoice.link_version or 0)}"


def _root_for_mail() -> str | None:
    """The service as its clients reach it: nobody else's mail is to name this machine."""
    config = configuration.current
    if config.BASE_URL or config.PRODUCTION or not has_request_context():
        return config.BASE_URL
    return service_root(request.environ, None)


def _keys() -> tuple[Key, ...]:
    return derived_keys(configuration.current, "invoice-links")


def _seal(text: str, key: Key) -> str:
    digest = hmac.digest(key.secret, text.encode(), "sha256")[:_SEAL_BYTES]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
