"""A year of invoices: subscriptions every month, devices and services, payments, corrections."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from app.bi.periods.spans import add_months
from app.demo.vocabulary import EUROPEAN_UNION, GOODS, HOME, SERVICES, SUBSCRIPTIONS, Row
from app.demo.world import STAFF, Record, World, workday
from app.invoices.totals import Line, compute_totals
from app.money import rounded

INVOICES = 2_940
CREDIT_NOTES = 60
MONTHS = 12
DRAFT_DAYS = 4
REVERSE_CHARGE = "Reverse charge: the recipient owes the tax (Article 196 of Directive 2006/112/EC)"
_ATTRIBUTES = {
    "quantity": "quantity", "unitPrice": "unit_price", "taxRate": "tax_rate",
    "taxCategory": "tax_category", "discountPercent": "discount_percent",
}  # fmt: skip
EXPORT = "Supply outside the European Union, not taxable"


def make_products(world: World) -> None:
    """The price list: all that is sold, in euros, changed last when the year began.

    Nothing of it is left to chance: what the year has else is as it is without.
    """
    created_at = datetime.combine(world.days_ago(370), time(8), UTC)
    keepers = [person.id for person in STAFF if person.role == "Accountant"]
    for tag, catalogue in (
        ("subscription", SUBSCRIPTIONS), ("device", GOODS), ("service", SERVICES),
    ):  # fmt: skip
        for product in catalogue:
            world.add(
                "Products", sku=product.code, name=product.description, unitCode=product.unit,
                unitPrice=Decimal(product.price), currency="EUR", tags=[tag],
                ownerId=keepers[0], createdById=keepers[0], createdAt=created_at,
            )  # fmt: skip


def make_invoices(world: World) -> None:
    """3,000 documents in the order of their dates, so that numbers run with time."""
    billed = [each for each in world.records["Clients"] if each["status"] in ("Active", "Inactive")]
    plans: list[tuple[date, Record, list[Record]]] = []
    for client in billed:
        if world.chance(0.62):
            plans.extend(_subscription(world, client))
    while len(plans) < INVOICES:
        client = world.pick(billed)
        earliest = min((world.today - client["createdAt"].date()).days, 364)
        plans.append((world.some_day(earliest, 0), client, _sale(world, client)))
    plans.sort(key=lambda plan: plan[0])
    numbers: Counter[int] = Counter()
    for day, client, lines in plans[-INVOICES:]:
        _invoice(world, client, day, lines, numbers)
    _number_payments(world)
    _credit_notes(world)


def _subscription(world: World, client: Record) -> list[tuple[date, Record, list[Record]]]:
    """One invoice a month since the client came, on the first working days."""
    plan = world.weighted([(each, each.weight) for each in SUBSCRIPTIONS])
    users = max(plan.least, min(plan.most, client["employeeCount"] // 4))
    bills, this_month = [], world.today.replace(day=1)
    for back in range(MONTHS - 1, -1, -1):
        first = add_months(this_month, -back)
        if first <= client["createdAt"].date():
            continue
        if client["status"] == "Inactive" and back < 4:
            break
        if world.chance(0.12):
            users = min(plan.most, users + world.dice.randint(1, 3))
        line = _line(world, client, plan, users)
        line |= {"periodStart": first, "periodEnd": add_months(first, 1) - timedelta(1)}
        day = min(_next_workday(first + timedelta(days=world.dice.randint(0, 2))), world.today)
        bills.append((day, client, [line]))
    return bills


def _sale(world: World, client: Record) -> list[Record]:
    catalogue = GOODS if world.chance(0.6) else SERVICES
    count = world.weighted([(1, 20), (2, 32), (3, 26), (4, 14), (5, 8)])
    products: list[Row] = []
    while len(products) < count:
        product = world.weighted([(each, each.weight) for each in catalogue])
        if product not in products:
            products.append(product)
    return [
        _line(world, client, each, int(world.between(each.least, each.most))) for each in products
    ]


def _line(world: World, client: Record, product: Row, quantity: int) -> Record:
    price = Decimal(product.price)
    if client["currency"] != "EUR":
        price = rounded(price / world.rates[client["currency"]], client["currency"])
    line: Record = {
        "description": product.description,
        "quantity": Decimal(quantity),
        "unitPrice": price,
        "unitCode": product.unit,
        "productCode": product.code,
        "productId": next(
            entry["id"] for entry in world.records["Products"] if entry["sku"] == product.code
        ),
        **_tax(client),
    }
    if quantity >= 10 and world.chance(0.4):
        line["discountPercent"] = Decimal(world.pick((3, 5, 10)))
    return line


def _tax(client: Record) -> Record:
    country = client["billingAddress"]["country"]
    if country == HOME:
        return {"taxCategory": "S", "taxRate": Decimal(19)}
    reason = REVERSE_CHARGE if country in EUROPEAN_UNION else EXPORT
    return {
        "taxCategory": "AE" if country in EUROPEAN_UNION else "G",
        "taxRate": Decimal(0),
        "taxExemptionReason": reason,
    }


def total(lines: list[Record], currency: str) -> Decimal:
    """What an invoice with these lines comes to."""
    return compute_totals(
        [
            Line(**{_ATTRIBUTES[name]: line[name] for name in _ATTRIBUTES if name in line})
            for line in lines
        ],
        currency=currency,
        prices_include_tax=False,
    ).total


def _invoice(
    world: World, client: Record, day: date, lines: list[Record], numbers: Counter[int]
) -> None:
    due = day + timedelta(days=client["paymentTermsDays"])
    common: Record = {
        "clientId": client["id"],
        "currency": client["currency"],
        "exchangeRate": world.rates[client["currency"]],
        "buyerReference": client.get("buyerReference"),
        "reference": f"PO-{world.dice.randint(10000, 99999)}" if world.chance(0.35) else None,
        "LineItems": lines,
        "ownerId": client["ownerId"],
        "createdById": world.employee("Accountant", "Sales"),
    }
    created_at = world.at(day, client["createdAt"])
    if (world.today - day).days < DRAFT_DAYS and world.chance(0.6):
        world.add("Invoices", **common, status="Draft", createdAt=created_at)
        return
    numbers[day.year] += 1
    status, payments = _settlement(
        world, due, day, total(lines, client["currency"]), client["currency"]
    )
    paid = status == "Paid"
    last = max((each["date"] for each in payments), default=day)
    overdue = (world.today - due).days if status in ("Sent", "PartiallyPaid") else 0
    reminders = min(3, max(0, overdue // 14))
    world.add(
        "Invoices",
        **common,
        number=f"INV-{day.year}-{numbers[day.year]:05d}",
        status=status,
        issueDate=day,
        dueDate=due,
        serviceDate=day,
        sentAt=created_at,
        viewedAt=world.after(created_at, 1, 60) if world.chance(0.7) else None,
        paidAt=world.at(last, created_at) if paid else None,
        voidedAt=world.after(created_at, 20, 200) if status == "Void" else None,
        voidReason="Sent to the wrong branch; issued again." if status == "Void" else None,
        remindersSent=reminders,
        lastReminderAt=world.at(world.days_ago(overdue % 14)) if reminders else None,
        createdAt=created_at,
        updatedAt=world.at(last, created_at),
        Payments=payments,
    )


def _settlement(
    world: World, due: date, day: date, amount: Decimal, currency: str
) -> tuple[str, list[Record]]:
    """State and payments: the longer ago an invoice was due, the surer it is settled."""
    late = (world.today - due).days
    odds: tuple[tuple[str, int], ...]
    if late > 60:
        odds = (("Paid", 940), ("Sent", 25), ("PartiallyPaid", 15), ("Void", 12),
                ("Uncollectible", 8))  # fmt: skip
    elif late > 0:
        odds = (("Paid", 790), ("Sent", 150), ("PartiallyPaid", 55), ("Void", 5))
    else:
        odds = (("Paid", 330), ("Sent", 620), ("PartiallyPaid", 50))
    status = world.weighted(odds)
    if status == "Paid":
        days = int(world.between(-10, 25))
        paid = max(day, due + timedelta(days=days))
        if paid > world.today:  # it was paid early
            paid = day + (world.today - day) * (days + 10) // 35
        return status, [_payment(world, paid, amount)]
    if status == "PartiallyPaid" and amount > 1:
        part = rounded(amount * world.pick((25, 40, 50, 60)) / 100, currency)
        paid = min(world.today, day + timedelta(days=world.dice.randint(3, 30)))
        return status, [_payment(world, paid, part)]
    return ("Sent" if status == "PartiallyPaid" else status), []


def _payment(world: World, day: date, amount: Decimal) -> Record:
    method = world.weighted([("transfer", 74), ("directDebit", 18), ("card", 5), ("paypal", 3)])
    paid = workday(day)
    return {
        "date": paid,
        "amount": amount,
        "method": method,
        "reference": f"{method[:2].upper()}{world.dice.randint(10**7, 10**8 - 1)}",
        "createdById": world.employee("Accountant"),
        "createdAt": world.at(paid),
    }


def _number_payments(world: World) -> None:
    """Payments are numbered in the order in which they were entered."""
    payments: list[Any] = [
        payment for invoice in world.records["Invoices"] for payment in invoice.get("Payments", ())
    ]
    payments.sort(key=lambda payment: payment["createdAt"])
    for number, payment in enumerate(payments, 1):
        payment["number"] = f"PAY-{number:06d}"


def _credit_notes(world: World) -> None:
    """Corrections of invoices that were open: in full, or for one line of several."""
    open_ones = [each for each in world.records["Invoices"] if each["status"] == "Sent"]
    world.dice.shuffle(open_ones)
    credited = sorted(open_ones[:CREDIT_NOTES], key=lambda each: (each["issueDate"], each["id"]))
    numbers: Counter[int] = Counter()
    for invoice in credited:
        day = workday(
            min(world.today, invoice["issueDate"] + timedelta(days=world.dice.randint(1, 9)))
        )
        day = max(day, invoice["issueDate"])
        lines = invoice["LineItems"]
        some = [lines[-1]] if len(lines) > 1 and world.chance(0.6) else lines
        numbers[day.year] += 1
        created_at = world.at(day, invoice["sentAt"])
        world.add(
            "Invoices",
            type="CreditNote",
            series="CN",
            number=f"CN-{day.year}-{numbers[day.year]:05d}",
            creditedInvoiceId=invoice["id"],
            clientId=invoice["clientId"],
            currency=invoice["currency"],
            exchangeRate=invoice["exchangeRate"],
            status="Sent",
            issueDate=day,
            dueDate=day,
            notes="Returned goods" if some is not lines else "Invoice corrected",
            LineItems=[dict(line) for line in some],
            sentAt=created_at,
            ownerId=invoice["ownerId"],
            createdById=invoice["createdById"],
            createdAt=created_at,
        )
        whole = some is lines
        invoice["status"] = "Paid" if whole else "PartiallyPaid"
        invoice["updatedAt"] = created_at
        if whole:
            invoice["paidAt"] = created_at


def _next_workday(day: date) -> date:
    return day + timedelta(days=(7 - day.weekday()) % 7 if day.weekday() > 4 else 0)
