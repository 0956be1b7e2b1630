"""What a lead says of the client, the contact and the opportunity that it may become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Attribute of the lead -> attribute of the client.
_CLIENT = {
    "email": "email", "tax_id": "tax_id", "phone": "phone", "website": "website",
    "industry": "industry", "country": "billing_country", "currency": "currency",
    "source": "source", "description": "notes",
}  # fmt: skip
_CONTACT = ("email", "phone", "job_title")
_CONSENT = "do_not_contact"


def client_values(lead: Mapping[str, Any]) -> dict[str, Any]:
    """The client: the company, or the person where there is none."""
    values = {
        attribute: lead[source] for source, attribute in _CLIENT.items() if lead[source] is not None
    }
    values["name"] = lead["company"] or _person(lead)
    values["type"] = "Company" if lead["company"] else "Individual"
    values[_CONSENT] = lead[_CONSENT]
    return values


def contact_values(lead: Mapping[str, Any]) -> dict[str, Any] | None:
    """The contact; None where the lead names a company only."""
    if not _person(lead):
        return None
    values = {name: lead[name] for name in _CONTACT if lead[name] is not None}
    # A contact has a family name; the only name of a person stands for it.
    if lead["last_name"]:
        values["last_name"] = lead["last_name"]
        if lead["first_name"]:
            values["first_name"] = lead["first_name"]
    else:
        values["last_name"] = lead["first_name"]
    values[_CONSENT] = lead[_CONSENT]
    return values


def opportunity_values(lead: Mapping[str, Any]) -> dict[str, Any]:
    """The opportunity: named like the client, of the value that was expected."""
    values = {"name": lead["company"] or _person(lead), "source": lead["source"]}
    if lead["estimated_value"] is not None:
        values["amount"] = lead["estimated_value"]
        if lead["currency"] is not None:
            values["currency"] = lead["currency"]
    return values


def _person(lead: Mapping[str, Any]) -> str:
    return " ".join(part for part in (lead["first_name"], lead["last_name"]) if part)
