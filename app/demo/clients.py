"""Clients and their contacts."""

from __future__ import annotations

from datetime import datetime

from stdnum import get_cc_module, luhn

from app.demo import vocabulary
from app.demo.world import Record, World, host_name, money

CLIENTS = 500
BY_CODE = {country.code: country for country in vocabulary.COUNTRIES}
TAX_ID_FORMS = {
    "DE": "DE#########", "AT": "ATU########", "NL": "NL#########B01", "DK": "DK########",
    "PL": "PL##########", "CH": "CHE#########MWST",
}  # fmt: skip
STATUSES = (("Active", 80), ("Prospect", 9), ("Inactive", 9), ("Blocked", 2))


def make_clients(world: World) -> None:
    """500 clients, oldest first, each with one to three contacts."""
    ages = sorted((int(world.between(1, 1500)) for _ in range(CLIENTS)), reverse=True)
    names: set[str] = set()
    for number, age in enumerate(ages, 1):
        created_at = world.at(world.days_ago(age))
        client = _client(world, number, created_at, names)
        for index in range(world.weighted([(1, 40), (2, 38), (3, 22)])):
            _contact(world, client, created_at, index)


def _client(world: World, number: int, created_at: datetime, names: set[str]) -> Record:
    country = world.weighted([(each, each.weight) for each in vocabulary.COUNTRIES])
    industry = world.pick(vocabulary.INDUSTRIES)
    form = world.pick(country.legal_forms)
    name = f"{_new_name(world, industry.endings, names)} {form}"
    host = f"{host_name(name.removesuffix(form))}.example"
    employees = int(world.between(*industry.employees))
    status = world.weighted(STATUSES)
    city = world.pick(country.cities)
    address = {
        "street": _street(world, country), "city": city.name, "postalCode": city.postal_code,
        "country": country.code,
    }  # fmt: skip
    return world.add(
        "Clients",
        number=f"C-{number:06d}",
        name=name,
        legalName=name,
        email=f"info@{host}",
        invoiceEmail=f"invoices@{host}" if world.chance(0.6) else None,
        taxId=_tax_id(world, country.code),
        status=status,
        revenue=money(world.between(1_500, 2_400) * max(3, employees) ** 0.9, "0.01"),
        type="Company",
        phone=_phone(world, country),
        website=f"https://www.{host}",
        industry=industry.name,
        employeeCount=employees,
        currency=country.currency,
        language="de" if country.language == "de" else "fr" if country.code == "FR" else "en",
        paymentTermsDays=world.weighted([(30, 60), (14, 25), (60, 10), (0, 5)]),
        creditLimit=money(employees * 400, "1000") if world.chance(0.4) else None,
        billingAddress=address,
        shippingAddress=address if world.chance(0.25) else None,
        registrationNumber=f"HRB {world.dice.randint(1000, 99999)}"
        if country.code == "DE"
        else None,
        buyerReference=f"{world.dice.randint(40000, 49999)}" if world.chance(0.15) else None,
        source=world.pick(vocabulary.SOURCES),
        tags=sorted({world.pick(vocabulary.TAGS) for _ in range(world.dice.randint(0, 2))}),
        ownerId=world.employee("Sales"),
        createdAt=created_at,
        createdById=world.employee("Sales"),
    )


def _new_name(world: World, endings: tuple[str, ...], names: set[str]) -> str:
    while (name := f"{world.pick(vocabulary.STEMS)} {world.pick(endings)}") in names:
        pass
    names.add(name)
    return name


def _contact(world: World, client: Record, created_at: datetime, index: int) -> None:
    country = BY_CODE[client["billingAddress"]["country"]]
    first = world.pick(vocabulary.FIRST_NAMES[country.code])
    last = world.pick_new(vocabulary.LAST_NAMES[country.code], "contact", client["id"], first)
    position = world.pick(vocabulary.POSITIONS)
    host = client["website"].removeprefix("https://www.")
    world.add(
        "Contacts",
        firstName=first,
        lastName=last,
        clientId=client["id"],
        email=f"{host_name(first)}.{host_name(last)}@{host}",
        phone=_phone(world, country),
        jobTitle=position.title,
        department=position.department,
        role=position.role,
        isPrimary=index == 0,
        receivesInvoices=position.role == "Billing",
        language=client["language"],
        doNotContact=world.chance(0.03),
        ownerId=client["ownerId"],
        createdAt=world.after(created_at, 0, 400),
        createdById=client["createdById"],
    )


def _street(world: World, country: vocabulary.Row) -> str:
    street, number = world.pick(country.streets), world.dice.randint(1, 140)
    before = country.code in ("GB", "FR")
    return f"{number} {street}" if before else f"{street} {number}"


def _phone(world: World, country: vocabulary.Row) -> str:
    digits = 6 if country.code == "DK" else 7 if country.code in ("AT", "CH", "NL", "PL") else 8
    return f"{country.calling} {_digits(world, digits)}"


def _tax_id(world: World, code: str) -> str | None:
    """A number whose check digits are right; it belongs to nobody we know."""
    if code == "FR":
        siren = _digits(world, 8)
        siren += luhn.calc_check_digit(siren)
        return f"FR{(12 + 3 * (int(siren) % 97)) % 97:02d}{siren}"
    form, module = TAX_ID_FORMS.get(code), get_cc_module(code.lower(), "vat")
    if form is None or module is None:
        return None
    while True:
        number = "".join(_digits(world, 1) if mark == "#" else mark for mark in form)
        if module.is_valid(number):
            return number


def _digits(world: World, count: int) -> str:
    return "".join(str(world.dice.randint(1, 9)) for _ in range(count))
