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
    PRODUCT,
    TAX_BREAKDOWN_LINE,
)
from app.container.operations import OPERATION_TYPES, OPERATIONS
from app.container.sales import LEAD, OPPORTUNITY, STAGE_CHANGE
from app.container.service import KB_ARTICLE, KB_REVISION, TICKET, TICKET_COMMENT
from app.container.work import PROJECT, TASK, USER
from app.crm.clients import CLIENTS
from app.crm.contacts import CONTACTS
from app.crm.leads import LEADS
from app.crm.opportunities import OPPORTUNITIES
from app.documents.media import MEDIA_DOCUMENTS
from app.http.security import current_caller
from app.invoices.products import PRODUCTS
from app.invoices.service import INVOICES
from app.kb.service import KB_ARTICLES
from app.odata.model import edm
from app.odata.model.declare import by_name
from app.projects.service import PROJECTS
from app.projects.tasks import TASKS
from app.settings.days import day_on
from app.tickets.service import TICKETS

ME = edm.Singleton(
    name="Me",
    type=USER,
    key=lambda: current_caller().user_id,
    description="Who is calling, as the directory shows it.",
)
NAMESPACE = "BusinessPlatform"

SETS = (
    edm.EntitySet(name="Clients", type=CLIENT, service=CLIENTS, description="Customers."),
    edm.EntitySet(name="Contacts", type=CONTACT, service=CONTACTS, description="People."),
    edm.EntitySet(name="Leads", type=LEAD, service=LEADS, description="Possible customers."),
    edm.EntitySet(
        name="Opportunities",
        type=OPPORTUNITY,
        service=OPPORTUNITIES,
        description="Sales in progress.",
    ),
    edm.EntitySet(name="Tickets", type=TICKET, service=TICKETS, description="Customer requests."),
    edm.EntitySet(
        name="Invoices", type=INVOICE, service=INVOICES, description="Invoices and credit notes."
    ),
    edm.EntitySet(
        name="KbArticles",
        type=KB_ARTICLE,
        service=KB_ARTICLES,
        description="Knowledge base articles.",
    ),
    edm.EntitySet(name="Documents", type=DOCUMENT, service=MEDIA_DOCUMENTS, description="Files."),
    edm.EntitySet(name="Tasks", type=TASK, service=TASKS, description="Things to do."),
    edm.EntitySet(name="Projects", type=PROJECT, service=PROJECTS, description="Work for clients."),
    edm.EntitySet(
        name="Products", type=PRODUCT, service=PRODUCTS, description="The price list of invoices."
    ),
    edm.EntitySet(
        name="Users",
        type=USER,
        description="Colleagues; read-only.",
        insertable=False,
        updatable=False,
        deletable=False,
    ),
)
TYPES = (
    CLIENT, CONTACT, LEAD, OPPORTUNITY, STAGE_CHANGE, TICKET, TICKET_COMMENT, INVOICE, LINE_ITEM,
    PAYMENT, KB_ARTICLE, KB_REVISION, DOCUMENT, DOCUMENT_VERSION, DOCUMENT_SHARE, TASK, PROJECT,
    PRODUCT, USER,
)  # fmt: skip


@cache
def container() -> edm.EntityContainer:
    """The model of the service, built at the first call."""
    return edm.EntityContainer(
        namespace=NAMESPACE,
        name="Default",
        sets=by_name(SETS),
        types=by_name(TYPES),
        complex_types=by_name(
            [ADDRESS, CUSTOM_FIELDS, TAX_BREAKDOWN_LINE, PARTY_SNAPSHOT, *OPERATION_TYPES]
        ),
        enum_types=by_name([PRIORITY]),
        singletons=by_name([ME]),
        day_of=day_on,
        operations=OPERATIONS,
        answers_later=True,
        is_default_namespace=True,
    )
