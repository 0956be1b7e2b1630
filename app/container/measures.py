"""What each figure of the business is: its one definition, which every reader names (ADR 0034).

The entity data model offers each measure as a custom aggregate, ``$apply=aggregate(Revenue)``; the
overview, the reports, the pipeline and the questions read the same definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.odata.model import edm

CURRENCY = "currency"
# The rate that a record keeps: units of the organisation's currency for one of its own; 0 if none.
RATE = "exchangeRate"
INVOICE = "type eq 'Invoice'"
CREDIT_NOTE = "type eq 'CreditNote'"
ISSUED = "status in ('Sent','PartiallyPaid','Paid','Uncollectible')"
OWED = "status in ('Sent','PartiallyPaid')"
WRITTEN_OFF = "status eq 'Uncollectible'"
OPEN_TICKET = "status in ('New','Open','Pending','OnHold')"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A figure of many records: ``value`` summed over those that fulfil ``where``, or their number.

    All texts are OData expressions of an entity of the type ``of``. ``date`` is the property that a
    period is about. ``rate`` is what an amount is multiplied by to be one in the currency of the
    organisation, ``base`` the same amount where the record keeps it. ``label`` says whether an
    amount is net or gross.
    """

    name: str
    of: str
    label: str
    description: str
    where: tuple[str, ...] = ()
    value: str | None = None
    date: str = ""
    currency: str = CURRENCY
    rate: str = RATE
    base: str | None = None

    @property
    def is_money(self) -> bool:
        return self.value is not None  # what is no number of records is an amount

    @property
    def condition(self) -> str:
        """What counts, as one filter."""
        return " and ".join(self.where)

    @property
    def base_name(self) -> str:
        """The aggregate of the same in the currency of the organisation."""
        return f"Base{self.name}"

    def aggregates(self) -> Iterator[edm.CustomAggregate]:
        """The custom aggregates of the model; of amounts also the one that converts them."""
        currency = self.currency if self.is_money else None
        yield edm.CustomAggregate(
            name=self.name, where=self.condition or None, value=self.value, currency=currency,
            description=f"{self.label}: {self.description}",
        )  # fmt: skip
        if self.value is None:
            return
        value = f"({self.value})" if " " in self.value else self.value
        yield edm.CustomAggregate(
            name=self.base_name,
            where=" and ".join((*self.where, f"{self.rate} gt 0")),
            value=self.base or f"{value} mul {self.rate}",
            description=f"{self.label}, in the currency of the organisation at the rate kept with"
            f" each record; what has none is left out ({RATE} eq 0): {self.description}",
        )


_SIGNED = "case(type eq 'CreditNote':-{value},true:{value})"
_OF_LINE = "case(Invoice/type eq 'CreditNote':-{value},true:{value})"
_NET = "case(type eq 'CreditNote':taxTotal sub total,true:total sub taxTotal)"
_ISSUED_ONLY = "Drafts and void documents do not count."

ALL = (
    Measure(
        name="Revenue", of="Invoice", label="Net revenue", where=(ISSUED,), value=_NET,
        date="issueDate",
        description="totals of issued invoices less those of credit notes, tax left out, by issue"
        f" date. {_ISSUED_ONLY}",
    ),
    Measure(
        name="GrossRevenue", of="Invoice", label="Gross revenue", where=(ISSUED,),
        value=_SIGNED.format(value="total"), base=_SIGNED.format(value="baseTotal"),
        date="issueDate",
        description="totals of issued invoices less those of credit notes, tax included, by issue"
        f" date. {_ISSUED_ONLY}",
    ),
    Measure(
        name="Invoiced", of="Invoice", label="Gross invoiced amount", where=(INVOICE, ISSUED),
        value="total", base="baseTotal", date="issueDate",
        description="totals of issued invoices, tax included, credit notes not deducted, by issue"
        f" date. {_ISSUED_ONLY}",
    ),
    Measure(
        name="InvoicedNet", of="Invoice", label="Net invoiced amount", where=(INVOICE, ISSUED),
        value="total sub taxTotal", date="issueDate",
        description="totals of issued invoices, tax left out, credit notes not deducted, by issue"
        f" date. {_ISSUED_ONLY}",
    ),
    Measure(
        name="Credited", of="Invoice", label="Gross credited amount", where=(CREDIT_NOTE, ISSUED),
        value="total", base="baseTotal", date="issueDate",
        description="totals of issued credit notes, tax included, by issue date.",
    ),
    Measure(
        name="CreditedNet", of="Invoice", label="Net credited amount", where=(CREDIT_NOTE, ISSUED),
        value="total sub taxTotal", date="issueDate",
        description="totals of issued credit notes, tax left out, by issue date.",
    ),
    Measure(
        name="CreditedTax", of="Invoice", label="Tax on credit notes",
        where=(CREDIT_NOTE, ISSUED), value="taxTotal", date="issueDate",
        description="tax on issued credit notes, by issue date.",
    ),
    Measure(
        name="Tax", of="Invoice", label="Tax", where=(ISSUED,),
        value=_SIGNED.format(value="taxTotal"), date="issueDate",
        description="tax on issued invoices less that on credit notes, by issue date."
        f" {_ISSUED_ONLY}",
    ),
    Measure(
        name="LineRevenue", of="LineItem", label="Net revenue", where=(f"Invoice/{ISSUED}",),
        value=_OF_LINE.format(value="lineNet"), date="Invoice/issueDate", rate=f"Invoice/{RATE}",
        currency=f"Invoice/{CURRENCY}",
        description="net amounts of the lines of issued invoices less those of credit notes, before"
        " discounts on the whole document.",
    ),
    Measure(
        name="LineGrossRevenue", of="LineItem", label="Gross revenue",
        where=(f"Invoice/{ISSUED}",), value=_OF_LINE.format(value="lineTotal"),
        date="Invoice/issueDate", rate=f"Invoice/{RATE}", currency=f"Invoice/{CURRENCY}",
        description="amounts with tax of the lines of issued invoices less those of credit notes,"
        " before discounts on the whole document.",
    ),
    Measure(
        name="LineTax", of="LineItem", label="Tax", where=(f"Invoice/{ISSUED}",),
        value=_OF_LINE.format(value="taxAmount"), date="Invoice/issueDate",
        rate=f"Invoice/{RATE}", currency=f"Invoice/{CURRENCY}",
        description="tax on the lines of issued invoices less that of credit notes, before"
        " discounts on the whole document.",
    ),
    Measure(
        name="Receivables", of="Invoice", label="Gross receivables", where=(INVOICE, OWED),
        value="amountDue",
        description="what is left to pay of issued invoices, as it is now. What was written off and"
        " void invoices do not count.",
    ),
    Measure(
        name="Overdue", of="Invoice", label="Gross overdue amount",
        where=(INVOICE, OWED, "isOverdue"), value="amountDue", date="dueDate",
        description="the receivables whose due date is before the company's day.",
    ),
    Measure(
        name="WrittenOff", of="Invoice", label="Gross amount written off",
        where=(INVOICE, WRITTEN_OFF), value="amountDue",
        description="what is left to pay of invoices that were given up as uncollectible.",
    ),
    Measure(
        name="Collected", of="Payment", label="Payments received", where=("status eq 'Completed'",),
        value="amount", date="date", rate=f"Invoice/{RATE}",
        description="payments by their day; reversed ones do not count.",
    ),
    Measure(
        name="DealValue", of="Opportunity", label="Value of opportunities", value="amount",
        base="baseAmount", date="closeDate",
        description="amounts of opportunities in every state.",
    ),
    Measure(
        name="Pipeline", of="Opportunity", label="Pipeline", where=("status eq 'Open'",),
        value="amount", base="baseAmount", date="closeDate",
        description="amounts of open opportunities, by expected closing date.",
    ),
    Measure(
        name="WeightedPipeline", of="Opportunity", label="Weighted pipeline",
        where=("status eq 'Open'",), value="weightedAmount", date="closeDate",
        description="amounts of open opportunities, each times its probability.",
    ),
    Measure(
        name="Won", of="Opportunity", label="Value of won deals", where=("status eq 'Won'",),
        value="amount", base="baseAmount", date="closedAt",
        description="amounts of opportunities that were won, by the day they were closed.",
    ),
    Measure(
        name="Lost", of="Opportunity", label="Value of lost deals", where=("status eq 'Lost'",),
        value="amount", base="baseAmount", date="closedAt",
        description="amounts of opportunities that were lost, by the day they were closed.",
    ),
    Measure(
        name="NewClients", of="Client", label="New clients", date="createdAt",
        description="clients by the instant they were created.",
    ),
    Measure(
        name="OpenTickets", of="Ticket", label="Open tickets", where=(OPEN_TICKET,),
        date="createdAt", description="tickets that are neither solved nor closed.",
    ),
    Measure(
        name="NewLeads", of="Lead", label="New leads", date="createdAt",
        description="leads by the instant they were created.",
    ),
    Measure(
        name="ConvertedLeads", of="Lead", label="Converted leads",
        where=("status eq 'Converted'",), date="convertedAt",
        description="leads that became clients.",
    ),
)  # fmt: skip
MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in ALL}


def aggregates_of(type_name: str) -> dict[str, edm.CustomAggregate]:
    """The custom aggregates of an entity type, by name."""
    return {
        aggregate.name: aggregate
        for measure in ALL
        if measure.of == type_name
        for aggregate in measure.aggregates()
    }


@dataclass(frozen=True)
class Figures:
    """What ``converted`` gives: rows in the currency of the organisation, and what has no rate.

    ``apart``: currency -> amount.
    """

    rows: Sequence[Mapping[str, Any]]
    apart: Mapping[str, Decimal]


def figures(measure: Measure, rows: Iterable[Mapping[str, Any]]) -> Figures:
    """The rows of the query of ``converted``, told apart; no figure is 0."""
    whole, apart = [], {}
    for row in rows:
        if measure.base_name in row:
            whole.append({**row, measure.base_name: Decimal(str(row[measure.base_name] or 0))})
        elif row[measure.name]:
            apart[row[CURRENCY]] = Decimal(str(row[measure.name]))
    return Figures(whole, apart)


def converted(
    measure: Measure,
    where: str = "",
    keys: str = "",
    computed: str = "",
    beside: str = "",
    more: Sequence[Measure] = (),
    apart_keys: str = "",
) -> str:
    """``$apply``: the figure in the currency of the organisation, and what has no rate beside it.

    The rows with ``Base...`` are converted, by the groups of ``keys`` if there are any; those with
    ``currency`` are what could not be, in each currency, by the groups of ``apart_keys`` if any.

    Args:
        where: which records.
        keys: paths that rows are grouped by.
        computed: what the groups need to be computed first.
        beside: other aggregates of the same groups.
        more: other figures of the same groups, with the same rate.
    """
    steps = [f"filter({where})"] if where else []
    measures = (measure, *more)
    names = [each.base_name for each in measures]
    whole = f"aggregate({','.join(filter(None, (*names, beside)))})"
    parts = f"groupby(({keys}),{whole})" if keys else whole
    parts = f"compute({computed})/{parts}" if computed else parts
    apart_by = ",".join(filter(None, (CURRENCY, apart_keys)))
    amounts = ",".join(each.name for each in measures)
    apart = f"filter({measure.rate} eq 0)/groupby(({apart_by}),aggregate({amounts}))"
    return "/".join([*steps, f"concat({parts},{apart})"])
