"""The EntityContainer of the business: its sets, their types and the services that write them."""

from __future__ import annotations

from collections.abc import Mapping
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
from app.documents.media import MEDIA_DOCUMENTS
from app.http.security import current_caller
from app.odata.model import edm
from app.odata.model.declare import by_name
from app.settings.days import day_on
from app.writing.services import SERVICES

ME = edm.Singleton(
    name="Me",
    type=USER,
    key=lambda: current_caller().user_id,
    description="Who is calling, as the directory shows it.",
)
NAMESPACE = "BusinessPlatform"

_SERVICES = {**SERVICES, "Document": MEDIA_DOCUMENTS}


def _set(name: str, type_: edm.EntityType, description: str) -> edm.EntitySet:
    service = _SERVICES[type_.name]
    return edm.EntitySet(name=name, type=type_, service=service, description=description)


SETS = (
    _set("Clients", CLIENT, "Customers."),
    _set("Contacts", CONTACT, "People."),
    _set("Leads", LEAD, "Possible customers."),
    _set("Opportunities", OPPORTUNITY, "Sales in progress."),
    _set("Tickets", TICKET, "Customer requests."),
    _set("Invoices", INVOICE, "Invoices and credit notes."),
    _set("KbArticles", KB_ARTICLE, "Knowledge base articles."),
    _set("Documents", DOCUMENT, "Files."),
    _set("Tasks", TASK, "Things to do."),
    _set("Projects", PROJECT, "Work for clients."),
    _set("Products", PRODUCT, "The price list of invoices."),
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


# What people call a record by: the first of these that its type has.
_TITLES = ("name", "fullName", "displayName", "subject", "title", "number")


@cache
def title_of(type_name: str) -> str:
    """The property that names a record of a type; empty for what is only a part of a record."""
    home = container().set_of_type.get(type_name)
    return next((name for name in _TITLES if home and name in home.type.properties), "")


@cache
def referred_by(type_: edm.EntityType) -> Mapping[str, str]:
    """Column -> the entity type that it refers to, by the foreign keys of the table."""
    types = {each.type.table: each.type.name for each in SETS}
    return {
        column.name: types[key.column.table]
        for column in type_.table.c
        for key in column.foreign_keys
        if key.column.table in types
    }
