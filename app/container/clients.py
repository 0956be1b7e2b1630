"""Entity types Client and Contact."""

from __future__ import annotations

from app.container.common import (
    FULL_NAME,
    address,
    business_type,
    documents_of,
    refers,
    tasks_about,
)
from app.models.client import Client, Contact
from app.odata.model.declare import to_many

CLIENT = business_type(
    Client,
    [
        "number", "name", "email", "tax_id", "status", "revenue", "type", "legal_name", "phone",
        "website", "registration_number", "industry", "employee_count", "currency", "language",
        "payment_terms_days", "credit_limit",
        address("billing", "Address on invoices."),
        address("shipping", "Address for deliveries."),
        "invoice_email", "e_invoice_scheme", "e_invoice_id", "buyer_reference", "source",
        "do_not_contact", "notes", "invoiced_total", "outstanding_balance", "credit_balance",
        "origin_lead_id", "last_activity_at",
    ],
    [
        to_many("Contacts", "Contact", "client_id", partner="Client", description="People."),
        to_many("Invoices", "Invoice", "client_id", partner="Client"),
        to_many("Opportunities", "Opportunity", "client_id", partner="Client"),
        to_many("Tickets", "Ticket", "client_id", partner="Client"),
        to_many("Projects", "Project", "client_id", partner="Client"),
        to_many(
            "Documents", "Document", "client_id", partner="Client",
            description="Documents that concern the client.",
        ),
        tasks_about("Client"),
    ],
    filled=("currency", "language"),
    resource="clients",
    alternate_keys=(("number",),),
    description="A customer: the company or person that is billed.",
)  # fmt: skip

CONTACT = business_type(
    Contact,
    [
        "first_name", "last_name",
        FULL_NAME,
        "client_id", "email", "phone", "mobile", "job_title", "department", "role", "is_primary",
        "receives_invoices", "language", "do_not_contact", "notes",
    ],
    [
        refers("client_id", partner="Contacts", searched=True),
        to_many("Tickets", "Ticket", "contact_id", partner="Contact"),
        to_many("Opportunities", "Opportunity", "contact_id", partner="Contact"),
        tasks_about("Contact"),
        documents_of("Contact"),
    ],
    resource="contacts",
    description="A person, usually at a client.",
)  # fmt: skip
