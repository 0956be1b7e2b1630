"""The operations on invoices, credit notes and payments."""

from __future__ import annotations

from typing import Any

from app.db import records
from app.http.schema_parts import answer_body
from app.invoices.downloads import check_e_invoice
from app.invoices.einvoice.preflight import Problem
from app.invoices.payments import register_payment, reverse_payment
from app.invoices.schemas import (
    BrokenRuleSchema,
    CreditNoteBodySchema,
    PaidInvoiceSchema,
    PaymentBodySchema,
    PaymentSchema,
    PreflightSchema,
    ReasonSchema,
    ReversedPaymentSchema,
    SendManySchema,
    SendSchema,
    SentManySchema,
    SentSchema,
    StandingSchema,
    VoidSchema,
)
from app.invoices.sending import send_invoice, send_invoices
from app.invoices.service import INVOICES
from app.invoices.steps import create_credit_note, mark_uncollectible, void_invoice
from app.models.invoice import Invoice, Payment
from app.operations.declaration import Button, Operation


def describe_invoice(invoice_id: int) -> dict[str, Any]:
    """The standing of an invoice or credit note."""
    return answer_body(StandingSchema, INVOICES.stored(invoice_id))


def describe_payment(payment_id: int) -> dict[str, Any]:
    """A payment with the invoice that it is for; when it was reversed, since when and why.

    Raises: NotFoundError.
    """
    payment = records.get(Payment, payment_id, f"There is no payment {payment_id}.")
    schema = ReversedPaymentSchema if payment.status == "Reversed" else PaymentSchema
    invoice = answer_body(PaidInvoiceSchema, INVOICES.stored(payment.invoice_id))
    return answer_body(schema, payment, date=payment.paid_on, invoice=invoice)


def describe_preflight(checked: tuple[Invoice, tuple[Problem, ...]]) -> dict[str, Any]:
    """Whether an e-invoice can be made, and what keeps it."""
    invoice, problems = checked
    broken = [answer_body(BrokenRuleSchema, problem) for problem in problems]
    return answer_body(PreflightSchema, invoice, ready=not problems, problems=broken)


SEND = Operation(
    name="Send",
    bound_to="Invoice",
    action="send",
    path="/<int:invoice_id>/send",
    permissions=("invoices:send",),
    description="""Issue a draft and mail it, or mail an issued document again.

    The mail is written with the change, or not at all; `delivery.status` is `queued` then.""",
    arguments=SendSchema,
    run=send_invoice,
    answers=SentSchema,
    button=Button(
        label="Send by e-mail",
        page="send",
        instead_of="status:Sent",
        of_many="A draft is issued and gets its number; what was sent cannot be undone.",
    ),
    asked_by=(
        "mail",
        "email",
        "issue",
        "schicke",
        "sende",
        "versende",
        "verschicke",
        "envoie",
        "envía",
        "invia",
    ),
)
SEND_MANY = Operation(
    name="SendInvoices",
    path="/send",
    permissions=("invoices:send",),
    description="""Send many documents, each in a transaction of its own.

    With an `Idempotency-Key`, what a request that was cut off has sent is not sent again. A dry run
    undoes each before the next, so each draft shows the number that is next.""",
    arguments=SendManySchema,
    run=send_invoices,
    answers=SentManySchema,
    proposed=False,
)
REGISTER_PAYMENT = Operation(
    name="RegisterPayment",
    bound_to="Invoice",
    action="payment",
    path="/<int:invoice_id>/payments",
    permissions=("payments:create",),
    description="""Register a payment; a draft is issued first, and nothing left makes it `Paid`.

    More than what is left is 409 `OVERPAYMENT`, unless `allowOverpayment` keeps the rest as
    credit of the client.""",
    arguments=PaymentBodySchema,
    run=register_payment,
    location="/odata/Invoices({invoiceId})/Payments({id})",
    answer=describe_payment,
    answers=PaymentSchema,
    returns="Payment",
    result_path="Payments",
    button=Button(
        label="Register payment",
        asks=("amount", "date", "method", "reference", "allowOverpayment"),
        done="Payment registered.",
        tells="amount",
        fills={"amount": "amountDue"},
    ),
    asked_by=("pay", "mark paid", "record payment", "enter payment", "log payment", "book",
              "buche", "buche zahlung", "verbuche", "verbuche zahlung", "erfasse zahlung",
              "enregistre paiement", "registra pago", "registra pagamento"),
)  # fmt: skip
VOID = Operation(
    name="Void",
    bound_to="Invoice",
    action="void",
    path="/<int:invoice_id>/void",
    permissions=("invoices:void",),
    description="Take an issued document back; its number stays. Payments must be reversed before.",
    arguments=VoidSchema,
    run=void_invoice,
    answer=describe_invoice,
    answers=StandingSchema,
    returns="Invoice",
    button=Button(label="Void", asks=("reason",), done="Invoice is void.", is_dangerous=True),
    asked_by=("cancel", "storniere", "annule", "anula", "annulla"),
)
MARK_UNCOLLECTIBLE = Operation(
    name="MarkUncollectible",
    bound_to="Invoice",
    action="uncollectible",
    path="/<int:invoice_id>/uncollectible",
    permissions=("invoices:uncollectible",),
    description="Write an invoice off: it leaves the receivables, and can still be paid.",
    run=mark_uncollectible,
    answer=describe_invoice,
    answers=StandingSchema,
    returns="Invoice",
    button=Button(
        label="Write off",
        done="Invoice written off.",
        is_dangerous=True,
        tells="amountDue",
        about="amountDue",
        instead_of="status:Uncollectible",
    ),
    asked_by=("write off", "buche aus", "schreibe ab", "passe pertes"),
)
CREATE_CREDIT_NOTE = Operation(
    name="CreateCreditNote",
    bound_to="Invoice",
    action="credit",
    path="/<int:invoice_id>/credit-note",
    permissions=("invoices:credit",),
    description="""Credit an issued invoice, all of it or the lines given.

    The credit lowers what is left to pay first; the rest becomes credit of the client.""",
    arguments=CreditNoteBodySchema,
    run=create_credit_note,
    location="/odata/Invoices({id})",
    answer=describe_invoice,
    answers=StandingSchema,
    returns="Invoice",
    button=Button(
        label="Credit",
        asks=("notes",),
        done="Credit note created.",
        is_dangerous=True,
        tells="total",
        about="total",
    ),
    asked_by=("credit", "erstelle gutschrift", "crée avoir", "crea abono", "crea nota credito"),
)
REVERSE_PAYMENT = Operation(
    name="Reverse",
    bound_to="Payment",
    action="reverse",
    path="/<int:payment_id>/reverse",
    permissions=("payments:reverse",),
    description="Take a payment back that bounced or was a mistake; the invoice is open again.",
    arguments=ReasonSchema,
    run=reverse_payment,
    answer=describe_payment,
    answers=ReversedPaymentSchema,
    returns="Payment",
    result_path="",
    asked_by=("take back", "refund", "storniere", "erstatte", "annule", "anula", "annulla"),
)
CHECK_E_INVOICE = Operation(
    name="CheckEInvoice",
    bound_to="Invoice",
    changes=False,
    path="/<int:invoice_id>/preflight",
    permissions=("invoices:read",),
    description="Which rules of EN 16931 an e-invoice of the document would break, before it is"
    " issued.",
    run=check_e_invoice,
    answer=describe_preflight,
    answers=PreflightSchema,
)
OPERATIONS = (
    SEND, SEND_MANY, REGISTER_PAYMENT, VOID, MARK_UNCOLLECTIBLE, CREATE_CREDIT_NOTE,
    REVERSE_PAYMENT, CHECK_E_INVOICE,
)  # fmt: skip
