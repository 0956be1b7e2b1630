"""Entity types Client and Contact."""

from __future__ import annotations

from app.container.common import (
    address,
    business_type,
    common,
    documents_of,
    full_name,
    key,
    money,
    owner,
    tasks_about,
)
from app.models.client import Client, Contact
from app.odata.declare import prop, to_many, to_one
from app.odata.model import edm

_client = Client.__table__
_contact = Contact.__table__

CLIENT = business_type(
    "Client",
    _client,
    [
        key(_client),
        prop(_client.c.number),
        prop(_client.c.name),
        prop(_client.c.email),
        prop(_client.c.tax_id),
        prop(_client.c.status),
        money(_client.c.revenue),
        prop(_client.c.type),
        prop(_client.c.legal_name),
        prop(_client.c.phone),
        prop(_client.c.website),
        prop(_client.c.registration_number),
        prop(_client.c.industry),
        prop(_client.c.employee_count),
        prop(_client.c.currency, filled=True),
        prop(_client.c.language, filled=True),
        prop(_client.c.payment_terms_days),
        money(_client.c.credit_limit),
        address("billing", "Address on invoices."),
        address("shipping", "Address for deliveries."),
        prop(_client.c.invoice_email),
        prop(_client.c.e_invoice_scheme),
        prop(_client.c.e_invoice_id),
        prop(_client.c.buyer_reference),
        prop(_client.c.source),
        prop(_client.c.do_not_contact),
        prop(_client.c.notes),
        money(_client.c.invoiced_total),
        money(_client.c.outstanding_balance),
        money(_client.c.credit_balance),
        prop(_client.c.origin_lead_id),
        prop(_client.c.last_activity_at),
        *common(_client),
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
        owner(),
    ],
    resource="clients",
    etag="version",
    alternate_keys=(("external_id",), ("number",)),
    description="A customer: the company or person that is billed.",
)  # fmt: skip

CONTACT = business_type(
    "Contact",
    _contact,
    [
        key(_contact),
        prop(_contact.c.first_name),
        prop(_contact.c.last_name),
        edm.Property(
            name="fullName",
            type=edm.STRING,
            attribute="full_name",
            expression=full_name,
            computed=True,
            description="Given and family name.",
        ),
        prop(_contact.c.client_id),
        prop(_contact.c.email),
        prop(_contact.c.phone),
        prop(_contact.c.mobile),
        prop(_contact.c.job_title),
        prop(_contact.c.department),
        prop(_contact.c.role),
        prop(_contact.c.is_primary),
        prop(_contact.c.receives_invoices),
        prop(_contact.c.language),
        prop(_contact.c.do_not_contact),
        prop(_contact.c.notes),
        *common(_contact),
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
        owner(),
    ],
    resource="contacts",
    etag="version",
    alternate_keys=(("external_id",),),
    description="A person, usually at a client.",
)  # fmt: skip
