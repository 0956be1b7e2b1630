"""The EntityContainer of the business: its sets, their types and the services that write them."""

from __future__ import annotations

from functools import cache

from app.container.clients import CLIENT, CONTACT
from app.container.common import ADDRESS, CUSTOM_FIELDS, PRIORITY
from app.container.documents import DOCUMENT, DOCUMENT_SHARE, DOCUMENT_VERSION
from app.container.invoices import (
    INVOICE,
    LINE_ITEM,
    PARTY_SNAPSHOT,
    PAYMENT,
    TAX_BREAKDOWN_LINE,
)
from app.container.sales import LEAD, OPPORTUNITY, STAGE_CHANGE
from app.container.service import KB_ARTICLE, KB_REVISION, TICKET, TICKET_COMMENT
from app.container.work import PROJECT, TASK, USER
from app.crm.clients import CLIENTS
from app.crm.contacts import CONTACTS
from app.odata import edm
from app.odata.declare import by_name

NAMESPACE = "BusinessPlatform"


@cache
def container() -> edm.EntityContainer:
    """The model of the service, built at the first call."""
    return edm.EntityContainer(
        namespace=NAMESPACE,
        name="Default",
        sets=by_name(
            [
                edm.EntitySet(
                    name="Clients", type=CLIENT, service=CLIENTS, description="Customers."
                ),
                edm.EntitySet(
                    name="Contacts", type=CONTACT, service=CONTACTS, description="People."
                ),
                edm.EntitySet(name="Leads", type=LEAD, description="Possible customers."),
                edm.EntitySet(
                    name="Opportunities", type=OPPORTUNITY, description="Sales in progress."
                ),
                edm.EntitySet(name="Tickets", type=TICKET, description="Customer requests."),
                edm.EntitySet(
                    name="Invoices", type=INVOICE, description="Invoices and credit notes."
                ),
                edm.EntitySet(
                    name="KbArticles", type=KB_ARTICLE, description="Knowledge base articles."
                ),
                edm.EntitySet(name="Documents", type=DOCUMENT, description="Files."),
                edm.EntitySet(name="Tasks", type=TASK, description="Things to do."),
                edm.EntitySet(name="Projects", type=PROJECT, description="Work for clients."),
                edm.EntitySet(
                    name="Users",
                    type=USER,
                    description="Colleagues; read-only.",
                    insertable=False,
                    updatable=False,
                    deletable=False,
                ),
            ]
        ),
        types=by_name(
            [
                CLIENT, CONTACT, LEAD, OPPORTUNITY, STAGE_CHANGE, TICKET, TICKET_COMMENT, INVOICE,
                LINE_ITEM, PAYMENT, KB_ARTICLE, KB_REVISION, DOCUMENT, DOCUMENT_VERSION,
                DOCUMENT_SHARE, TASK, PROJECT, USER,
            ]
        ),
        complex_types=by_name([ADDRESS, CUSTOM_FIELDS, TAX_BREAKDOWN_LINE, PARTY_SNAPSHOT]),
        enum_types=by_name([PRIORITY]),
    )  # fmt: skip
