"""The services of all areas, by the entity type that each of them writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.crm.clients import CLIENTS, CONTACTS
from app.crm.leads import LEADS
from app.crm.opportunities import OPPORTUNITIES
from app.documents.service import DOCUMENTS
from app.invoices.products import PRODUCTS
from app.invoices.service import INVOICES
from app.kb.service import KB_ARTICLES
from app.projects.service import PROJECTS, TASKS
from app.tickets.service import TICKETS
from app.writing.pipeline import EntityService

SERVICES: Mapping[str, EntityService[Any]] = {
    service.rules.name: service
    for service in (
        CLIENTS, CONTACTS, LEADS, OPPORTUNITIES, TICKETS, INVOICES, KB_ARTICLES, DOCUMENTS,
        TASKS, PROJECTS, PRODUCTS,
    )
}  # fmt: skip
