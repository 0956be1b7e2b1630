"""Entity types Client and Contact."""

from __future__ import annotations

from app.container.common import (
    FULL_NAME,
    address,
    business_type,
    documents_of,
    money,
    props,
    tasks_about,
)
from app.models.client import Client, Contact
from app.odata.model.declare import prop, to_many, to_one

_client = Client.__table__
_contact = Contact.__table__

CLIENT = business_type(
    "Client",
    _client,
    [
        *props(_client, "number", "name", "email", "tax_id", "status"),
        money(_client.c.revenue),
        *props(
            _client, "type", "legal_name", "phone", "website", "registration_number", "industry",
            "employee_count",
        ),
        prop(_client.c.currency, filled=True),
        prop(_client.c.language, filled=True),
        prop(_client.c.payment_terms_days),
        money(_client.c.credit_limit),
        address("billing", "Address on invoices."),
        address("shipping", "Address for deliveries."),
        *props(
            _client, "invoice_email", "e_invoice_scheme", "e_invoice_id", "buyer_reference",
            "source", "do_not_contact", "notes",
        ),
        money(_client.c.invoiced_total),
        money(_client.c.outstanding_balance),
        money(_client.c.credit_balance),
        *props(_client, "origin_lead_id", "last_activity_at"),
    ],
    [
        to_many("Contacts", "Contact", "client_id", partner="Client", description="People."),
        to_many("Invoices", "Invoice", "client_id", partner="Client", description="Invoices."),
        to_many(
            "Opportunities", "Opportunity", "client_id", partner="Client",
            description="Opportunities.",
        ),
        to_many("Tickets", "Ticket", "client_id", partner="Client", description="Tickets."),
        to_many("Projects", "Project", "client_id", partner="Client", description="Projects."),
        to_many(
            "Documents", "Document", "client_id", partner="Client",
            description="Documents that concern the client.",
        ),
        tasks_about("Client"),
    ],
    resource="clients",
    alternate_keys=(("number",),),
    description="A customer: the company or person that is billed.",
)  # fmt: skip

CONTACT = business_type(
    "Contact",
    _contact,
    [
        *props(_contact, "first_name", "last_name"),
        FULL_NAME,
        *props(
            _contact, "client_id", "email", "phone", "mobile", "job_title", "department", "role",
            "is_primary", "receives_invoices", "language", "do_not_contact", "notes",
        ),
    ],
    [
        to_one(
            "Client", "Client", "client_id", partner="Contacts", searched=True,
            description="Employer.",
        ),
        to_many("Tickets", "Ticket", "contact_id", partner="Contact", description="Tickets."),
        to_many(
            "Opportunities", "Opportunity", "contact_id", partner="Contact",
            description="Opportunities.",
        ),
        tasks_about("Contact"),
        documents_of("Contact"),
    ],
    resource="contacts",
    description="A person, usually at a client.",
)  # fmt: skip
