"""The operations of the business as OData actions and functions: the same services as REST.

One declaration is all that an operation needs: its name, what it is bound to, the right, the
parameters, what it returns, and the function that calls the service. An entity is returned by key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.container.actions import availability
from app.container.clients import CLIENT
from app.container.documents import DOCUMENT
from app.container.invoices import INVOICE, PAYMENT, days_overdue
from app.container.operation_types import (
    CLIENT_OVERRIDES,
    CONVERSION,
    CONVERSION_OPPORTUNITY,
    CREDITED_LINE,
    KB_SEARCH,
    PIPELINE,
    SENT_INVOICE,
    TEXTS,
)
from app.container.service import TICKET
from app.crm.conversion import CREATE, FAIL, LINK, Wishes, check_wishes, convert_lead
from app.crm.conversion_answer import describe_conversion
from app.crm.merging import merge_clients
from app.crm.pipeline import Selection, pipeline_summary
from app.documents.service import DOCUMENTS
from app.errors import ValidationError
from app.invoices.crediting import check_credit, create_credit_note
from app.invoices.operations import mark_uncollectible, void_invoice
from app.invoices.payments import (
    PAYMENT as PAYMENT_RULES,
    check_payment,
    check_reason,
    register_payment,
    reverse_payment,
)
from app.invoices.sending import Letter, send_invoice
from app.kb.search import describe_found, search_articles
from app.models.invoice import PAYMENT_METHODS
from app.odata.model import edm
from app.search.ranking import MODES
from app.tickets.merging import merge_tickets
from app.writing.bodies import read_properties

Arguments = Mapping[str, Any]


def _action(
    name: str, bound_to: str, permission: str, handler: Callable[..., Any],
    *parameters: edm.Parameter, **more: Any,
) -> edm.Operation:  # fmt: skip
    return edm.Operation(
        name=name, is_action=True, bound_to=bound_to, permission=permission, handler=handler,
        parameters=parameters, **more,
    )  # fmt: skip


def _function(
    name: str, permission: str, handler: Callable[..., Any], *parameters: edm.Parameter, **more: Any
) -> edm.Operation:
    return edm.Operation(
        name=name, is_action=False, import_name=name, permission=permission, handler=handler,
        parameters=parameters, **more,
    )  # fmt: skip


def _parameter(name: str, type_: edm.EdmType, description: str, **more: Any) -> edm.Parameter:
    return edm.Parameter(name=name, type=type_, description=description, **more)


def _given(arguments: Arguments, **names: str) -> dict[str, Any]:
    """The arguments that are not null, under the names of the service."""
    return {
        attribute: arguments[name]
        for attribute, name in names.items()
        if arguments.get(name) is not None
    }


# --- leads


def _convert(key: int, arguments: Arguments) -> dict[str, Any]:
    wishes = Wishes(
        **_given(
            arguments,
            client_id="clientId", contact_id="contactId", opportunity_id="opportunityId",
            create_contact="createContact", create_opportunity="createOpportunity",
            opportunity="opportunity", client="client", on_duplicate="onDuplicate",
            owner_id="ownerId",
        )
    )  # fmt: skip
    return describe_conversion(convert_lead(key, wishes), dry_run=False)


CONVERT = _action(
    "Convert", "Lead", "leads:convert", _convert,
    _parameter("clientId", edm.INT64, "Client to link; else one is found or made."),
    _parameter("contactId", edm.INT64, "Contact to link; else one is found or made."),
    _parameter("opportunityId", edm.INT64, "Opportunity to link."),
    _parameter("createContact", edm.BOOLEAN, "Default: true."),
    _parameter("createOpportunity", edm.BOOLEAN, "Default: whether opportunity is given."),
    _parameter("opportunity", CONVERSION_OPPORTUNITY, "The opportunity to make."),
    _parameter("client", CLIENT_OVERRIDES, "What goes before what the lead says."),
    _parameter(
        "onDuplicate", edm.STRING, "What to do with a client that is found. Default: link.",
        allowed=(LINK, CREATE, FAIL),
    ),
    _parameter("ownerId", edm.INT64, "Owner of what is made; default: the lead's."),
    returns=CONVERSION,
    available=availability("Lead", "leads", "convert"),
    check=check_wishes,
    description="Turn a lead into a client, a contact and, on request, an opportunity.",
)  # fmt: skip


# --- invoices and payments


def _send(key: int, arguments: Arguments) -> dict[str, Any]:
    wanted = _given(
        arguments,
        to="to", cc="cc", subject="subject", message="message", attach_pdf="attachPdf",
        attach_e_invoice="attachEInvoice", mark_only="markOnly",
    )  # fmt: skip
    for name in ("to", "cc"):
        if name in wanted:
            wanted[name] = tuple(wanted[name])
    return send_invoice(key, Letter(**wanted))


def _register_payment(key: int, arguments: Arguments) -> int:
    values = {name: value for name, value in arguments.items() if name != "allowOverpayment"}
    allow = bool(arguments.get("allowOverpayment"))
    return register_payment(key, read_properties(PAYMENT_RULES, values), allow_overpayment=allow)


def _void(key: int, arguments: Arguments) -> int:
    void_invoice(key, arguments["reason"])
    return key


def _mark_uncollectible(key: int, arguments: Arguments) -> int:
    mark_uncollectible(key)
    return key


def _create_credit_note(key: int, arguments: Arguments) -> int:
    lines = arguments.get("lineItems")
    if lines is not None and not lines:
        raise ValidationError([("lineItems", "must not be empty")])
    issue = arguments.get("issue")
    return create_credit_note(
        key, lines, notes=arguments.get("notes"), issue=True if issue is None else issue
    )


def _reverse(key: int, arguments: Arguments) -> int:
    reverse_payment(key, arguments.get("reason"))
    return key


SEND = _action(
    "Send", "Invoice", "invoices:send", _send,
    _parameter("to", TEXTS, "Recipients; the client's address for invoices when left out."),
    _parameter("cc", TEXTS, "Copies."),
    _parameter("subject", edm.STRING, "Subject; made up when left out."),
    _parameter("message", edm.STRING, "Text; made up when left out."),
    _parameter("attachPdf", edm.BOOLEAN, "Default: true."),
    _parameter("attachEInvoice", edm.BOOLEAN, "Attach the UBL file. Default: false."),
    _parameter("markOnly", edm.BOOLEAN, "Issue without a mail. Default: false."),
    returns=SENT_INVOICE,
    available=availability("Invoice", "invoices", "send"),
    description="Issue a draft and mail it, or mail an issued document again.",
)  # fmt: skip
REGISTER_PAYMENT = _action(
    "RegisterPayment", "Invoice", "payments:create", _register_payment,
    _parameter("amount", edm.DECIMAL, "More than 0, in the invoice's currency.", nullable=False),
    _parameter("date", edm.DATE, "Day of the payment.", nullable=False),
    _parameter("method", edm.STRING, f"One of {', '.join(PAYMENT_METHODS)}.", nullable=False),
    _parameter("reference", edm.STRING, "Such as the text of the transfer."),
    _parameter("notes", edm.STRING, "Notes."),
    _parameter("allowOverpayment", edm.BOOLEAN, "Keep what is too much as credit."),
    returns=PAYMENT, result_path="Payments", creates=True,
    available=availability("Invoice", "invoices", "payment"),
    check=check_payment,
    description="Register a payment; a draft is issued first.",
)  # fmt: skip
VOID = _action(
    "Void", "Invoice", "invoices:void", _void,
    _parameter("reason", edm.STRING, "Why.", nullable=False),
    returns=INVOICE,
    available=availability("Invoice", "invoices", "void"),
    check=check_reason,
    description="Take an issued document back; its number stays.",
)  # fmt: skip
MARK_UNCOLLECTIBLE = _action(
    "MarkUncollectible", "Invoice", "invoices:uncollectible", _mark_uncollectible,
    returns=INVOICE,
    available=availability("Invoice", "invoices", "uncollectible"),
    description="Write an invoice off: it leaves the receivables, and can still be paid.",
)  # fmt: skip
CREATE_CREDIT_NOTE = _action(
    "CreateCreditNote", "Invoice", "invoices:credit", _create_credit_note,
    _parameter(
        "lineItems", edm.CollectionType(CREDITED_LINE), "What to credit; all when left out."
    ),
    _parameter("notes", edm.STRING, "Notes."),
    _parameter("issue", edm.BOOLEAN, "Issue it at once. Default: true."),
    returns=INVOICE, creates=True,
    available=availability("Invoice", "invoices", "credit"),
    check=check_credit,
    description="Credit an issued invoice, all of it or the lines given.",
)  # fmt: skip
REVERSE = _action(
    "Reverse", "Payment", "payments:reverse", _reverse,
    _parameter("reason", edm.STRING, "Why."),
    returns=PAYMENT, result_path="",
    available=availability("Payment", "payments", "reverse"),
    check=check_reason,
    description="Take a payment back; the invoice is open again.",
)  # fmt: skip


DAYS_OVERDUE = edm.Operation(
    name="DaysOverdue", is_action=False, bound_to="Invoice", permission="invoices:read",
    parameters=(
        _parameter("asOf", edm.DATE, "As of this day; default: today.", optional=True),
    ),
    returns=edm.INT64, expression=days_overdue,
    description="Days since the due date of an invoice that is not paid; 0 before, and when it is.",
)  # fmt: skip


# --- the pipeline


def _pipeline_summary(arguments: Arguments) -> dict[str, Any]:
    start, end = arguments.get("from"), arguments.get("to")
    if start is not None and end is not None and end < start:
        raise ValidationError([("to", "must not be before from")])
    return pipeline_summary(
        Selection(
            start=start,
            end=end,
            owner_id=arguments.get("ownerId"),
            pipeline=arguments.get("pipeline"),
        )
    )


PIPELINE_SUMMARY = _function(
    "PipelineSummary", "pipeline:read", _pipeline_summary,
    _parameter("from", edm.DATE, "First day.", optional=True),
    _parameter("to", edm.DATE, "Last day.", optional=True),
    _parameter("ownerId", edm.INT64, "Only opportunities of this user.", optional=True),
    _parameter("pipeline", edm.STRING, "Only this pipeline.", optional=True),
    returns=PIPELINE,
    description="The pipeline in figures: stages, totals, what was won and lost.",
)  # fmt: skip


# --- merging


def _merge_clients(key: int, arguments: Arguments) -> int:
    merge_clients(key, arguments["sourceId"])
    return key


def _merge_tickets(key: int, arguments: Arguments) -> int:
    given = [name for name in ("targetId", "sourceId") if arguments.get(name) is not None]
    if len(given) != 1:
        raise ValidationError([("targetId", "give either targetId or sourceId")])
    (field,) = given
    into_other = field == "targetId"
    return merge_tickets(key, arguments[field], field=field, into_other=into_other).target_id


MERGE_CLIENTS = _action(
    "Merge", "Client", "clients:update", _merge_clients,
    _parameter("sourceId", edm.INT64, "Client to take up; it is deleted.", nullable=False),
    returns=CLIENT, also=("clients:delete",),
    available=availability("Client", "clients", "merge"),
    description="Merge another client into this one, which stays.",
)  # fmt: skip
MERGE_TICKETS = _action(
    "Merge", "Ticket", "tickets:merge", _merge_tickets,
    _parameter("sourceId", edm.INT64, "Ticket that goes into this one and is closed."),
    _parameter("targetId", edm.INT64, "Ticket that this one goes into; this one is closed."),
    returns=TICKET,
    available=availability("Ticket", "tickets", "merge"),
    description="Merge two tickets: one is closed, the other gets its comments and is returned.",
)  # fmt: skip


# --- documents


def _restore(key: int, arguments: Arguments) -> int:
    DOCUMENTS.restore(key)
    return key


RESTORE = _action(
    "Restore", "Document", "settings:update", _restore,
    returns=DOCUMENT, binds_hidden=True,
    description="Bring a document back that was deleted within the last 30 days.",
)  # fmt: skip


# --- knowledge base

MOST_FOUND = 50


def _kb_search(arguments: Arguments) -> dict[str, Any]:
    question = arguments["q"].strip()
    limit = arguments.get("limit", 10)
    if not question:
        raise ValidationError([("q", "must not be empty")])
    if not 1 <= limit <= MOST_FOUND:
        raise ValidationError([("limit", f"must be from 1 to {MOST_FOUND}")])
    wanted = _given(arguments, category="category", language="language", mode="mode")
    result = search_articles(question, limit=limit, **{"mode": "hybrid", **wanted})
    items = [describe_found(found, result.marker) for found in result.found]
    return {"query": question, "mode": result.mode, "total": result.total, "items": items}


KB_SEARCH_FUNCTION = _function(
    "KbSearch", "kb:read", _kb_search,
    _parameter("q", edm.STRING, "A question, or words.", nullable=False),
    _parameter("limit", edm.INT32, "From 1 to 50; default: 10.", nullable=False, optional=True),
    _parameter("category", edm.STRING, "Category of the articles.", optional=True),
    _parameter("language", edm.STRING, "Language of the articles, such as de.", optional=True),
    _parameter(
        "mode", edm.STRING, "By meaning and words, by meaning, or by words alone.",
        optional=True, allowed=MODES,
    ),
    returns=KB_SEARCH,
    description="Find published articles by what a question means and by its words.",
)  # fmt: skip

OPERATIONS = (
    MERGE_CLIENTS, MERGE_TICKETS, CONVERT, SEND, REGISTER_PAYMENT, VOID, MARK_UNCOLLECTIBLE,
    CREATE_CREDIT_NOTE, REVERSE, DAYS_OVERDUE, RESTORE, KB_SEARCH_FUNCTION, PIPELINE_SUMMARY,
)  # fmt: skip
