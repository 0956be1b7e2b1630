"""The link to a document's page: shown to whoever may send it, withdrawn when it went astray."""

from __future__ import annotations

from typing import Any

from app.http import schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import Instant
from app.http.security import requires
from app.invoices.area import area
from app.invoices.public.links import show_link, withdraw_link


class LinkSchema(Schema):
    """Where the client finds the document."""

    id = fields.Integer()
    url = fields.String(example="https://platform.example.com/s/i/17-0-KxYnb3q0QmZ1c2VkIGlkcw")
    viewed_at = Instant(allow_none=True)


@area.get("/<int:invoice_id>/link")
@area.response(200, LinkSchema)
@area.alt_response(409, response="Error409")
@requires("invoices:send")
def link(invoice_id: int) -> dict[str, Any]:
    """The address of the document's page for the client: it needs no account.

    It is the one in the mail, the same at every request, and works until it is withdrawn.
    """
    return show_link(invoice_id)


@area.delete("/<int:invoice_id>/link")
@area.response(204)
@requires("invoices:send")
def withdraw(invoice_id: int) -> None:
    """End every link to the document that was given out; the next one is another."""
    withdraw_link(invoice_id)
