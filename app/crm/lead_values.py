"""What a lead says of the client, the contact and the opportunity that it may become."""

from __future__ import annotations

from typing import Any

from app.models.lead import Lead

# Attribute of the lead -> attribute of the client.
_CLIENT = {
    "email": "email", "tax_id": "tax_id", "phone": "phone", "website": "website",
    "industry": "industry", "country": "billing_country", "currency": "currency",
    "source": "source", "description": "notes",
}  # fmt: skip


def client_values(lead: Lead) -> dict[str, Any]:
    """The client: the company, or the person where there is none."""
    lead_values = {attribute: getattr(lead, source) for source, attribute in _CLIENT.items()}
    return {
        **{name: value for name, value in lead_values.items() if value is not None},
        "name": lead.company or _person(lead),
        "type": "Company" if lead.company else "Individual",
        "do_not_contact": lead.do_not_contact,
    }


def contact_values(lead: Lead) -> dict[str, Any] | None:
    """The contact; None where the lead names a company only."""
    if not _person(lead):
        return None
    lead_values = {"email": lead.email, "phone": lead.phone, "job_title": lead.job_title}
    values: dict[str, Any] = {name: text for name, text in lead_values.items() if text is not None}
    # A contact has a family name; the only name of a person stands for it.
    if lead.last_name:
        values["last_name"] = lead.last_name
        if lead.first_name:
            values["first_name"] = lead.first_name
    else:
        values["last_name"] = lead.first_name
    values["do_not_contact"] = lead.do_not_contact
    return values


def opportunity_values(lead: Lead) -> dict[str, Any]:
    """The opportunity: named like the client, of the value that was expected."""
    values: dict[str, Any] = {"name": lead.company or _person(lead), "source": lead.source}
    if lead.estimated_value is not None:
        values["amount"] = lead.estimated_value
        if lead.currency is not None:
            values["currency"] = lead.currency
    return values


def _person(lead: Lead) -> str:
    return " ".join(part for part in (lead.first_name, lead.last_name) if part)
