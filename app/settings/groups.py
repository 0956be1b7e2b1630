"""The settings of the organisation, group by group: who sells, in which currency, by when.

A field says its meaning, its default, its bounds and an example once; the service, the API, its
description and the console read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields as dataclass_fields
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from marshmallow import INCLUDE, pre_load

from app.http import schema_bounds as validate, schema_fields as fields
from app.http.schema_fields import BadValueError, Field, Schema
from app.models.ticket import PRIORITIES
from app.odata.names import camel
from app.settings.templates import answers_field, template_field, usual_answers
from app.settings.values import Exact, currency_code, flag, percent, setting, text, whole
from app.writing.fields import Day, Text, WholeNumber

_LONGEST_HOURS = 8760
_MOST_STEPS = 10
_FARTHEST_STEP = 365


@dataclass(frozen=True, kw_only=True)
class Seller:
    """The party that invoices come from."""

    name: str = text("Name of the company.", "My Company", example="Acme")
    legal_name: str | None = text(
        "Name in the register, printed on documents.", example="Acme GmbH"
    )
    tax_id: str | None = text(
        "VAT identifier or tax number.", most=32, form="own_tax_id", example="DE136695976"
    )
    registration_number: str | None = text(
        "Number in the register of companies.", most=50, example="HRB 12345"
    )
    email: str | None = text(
        "E-mail address on documents.", most=254, form="email", example="office@acme.example"
    )
    phone: str | None = text(
        "Telephone number on documents.", most=32, form="phone", example="+49 30 901820"
    )
    website: str | None = text(
        "Website on documents.", most=2048, form="url", example="https://acme.example"
    )
    street: str | None = text("Street and number.", most=255, example="Hauptstr. 1")
    city: str | None = text("City.", most=100, example="Berlin")
    state: str | None = text("State or region.", most=100, example="Berlin")
    postal_code: str | None = text("Postal code.", most=20, example="10115")
    country: str | None = text(
        "Country (ISO 3166-1 alpha-2).", most=2, form="country", example="DE"
    )
    e_invoice_scheme: str | None = text(
        "Scheme of the electronic address (EAS code).", most=4, form="endpoint_scheme", example="EM"
    )
    e_invoice_id: str | None = text(
        "Electronic address, for example on Peppol.", most=50, example="office@acme.example"
    )


@dataclass(frozen=True, kw_only=True)
class Bank:
    """Where invoices are paid to."""

    account_holder: str | None = text(
        "Holder of the account; the seller by default.", example="Acme GmbH"
    )
    iban: str | None = text("IBAN.", most=42, form="iban", example="DE02120300000000202051")
    bic: str | None = text("BIC.", most=11, form="bic", example="BYLADEM1001")
    bank_name: str | None = text("Name of the bank.", most=100, example="Bank")


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What new records get; ``tax_rate`` in percent."""

    currency: str = text("The organisation's currency (ISO 4217).", "EUR", most=3, form="currency")
    language: str = text("Language of new clients.", "en", most=10, form="language")
    time_zone: str = text("Time zone (IANA).", "UTC", most=64, form="time_zone")
    tax_rate: Decimal = percent(  # noqa: RUF009  # a field, not a default
        "Tax on new lines, in percent.", Decimal("19.00")
    )
    fiscal_year_start: int = whole(
        "Month in which the fiscal year begins, 1 to 12.", 1, least=1, most=12
    )


@dataclass(frozen=True, kw_only=True)
class Invoicing:
    """How documents are numbered: series, year, running number."""

    series: str = text("Series of invoices.", "INV", most=10, form="series")
    credit_note_series: str | None = text(
        "Series of credit notes; that of invoices by default.", most=10, form="series", example="CN"
    )
    public_page: bool = flag("Whether clients get a link to a page of the document.", True)
    back_dating: bool = flag(
        "Whether documents may be dated before the last one of their series, within the month.",
        False,
    )
    closed_until: str | None = setting(
        Day(
            post_load=date.isoformat,
            allow_none=True,
            description="The books are closed up to this day: nothing is issued, paid or written"
            " off with a date until then, and no document of then is voided.",
        )
    )

    def closing_day(self, dated: date) -> date | None:
        """The day up to which the books are closed, where ``dated`` lies in them."""
        closed = self.closed_until and date.fromisoformat(self.closed_until)
        return closed if closed and dated <= closed else None


def _require_order(steps: list[int]) -> None:
    if steps != sorted(set(steps)):
        raise BadValueError("must be in ascending order, each day once")


@dataclass(frozen=True, kw_only=True)
class Reminders:
    """When clients are reminded of what they owe: days from the due date, before it below 0."""

    enabled: bool = flag("Whether reminders are sent.", True)
    steps: tuple[int, ...] = setting(
        fields.List(
            WholeNumber(32, validate=validate.Range(-_FARTHEST_STEP, _FARTHEST_STEP)),
            validate=[validate.Length(max=_MOST_STEPS), _require_order],
            post_load=tuple,
            allow_none=True,
            description="Days from the due date; below 0 is before it.",
            example=[-3, 3, 14],
        ),
        (-3, 3, 14),
    )


def _priority_hours() -> Field:
    return WholeNumber(32, validate=validate.Range(1, _LONGEST_HOURS))


HoursSchema = type(
    "HoursSchema", (Schema,), {priority: _priority_hours() for priority in PRIORITIES}
)


def _hours(about: str, hours: Mapping[str, int]) -> Any:
    read = fields.Nested(
        HoursSchema,
        post_load=lambda typed: {**hours, **typed},
        allow_none=True,
        description=about,
        example=dict(hours),
    )
    return setting(read, lambda: hours)


@dataclass(frozen=True, kw_only=True)
class ServiceLevel:
    """Hours from a ticket's creation, by priority; the clocks stand still while it waits."""

    first_response_hours: Mapping[str, int] = _hours(
        "Hours until the first answer, by priority.",
        {"Urgent": 1, "High": 4, "Normal": 8, "Low": 24},
    )
    resolution_hours: Mapping[str, int] = _hours(
        "Hours until the solution, by priority.",
        {"Urgent": 8, "High": 24, "Normal": 72, "Low": 120},
    )
    auto_close_days: int = whole("Days after which a solved ticket is closed.", 7, least=1, most=90)


@dataclass(frozen=True, kw_only=True)
class Mail:
    """Whom mail comes from; what is not set follows from the seller."""

    sender_name: str | None = text("Name of the sender.", most=100, example="Acme")
    sender_address: str | None = text(
        "Address of the sender.", most=254, form="email", example="billing@acme.example"
    )
    reply_to: str | None = text(
        "Where answers go.", most=254, form="email", example="office@acme.example"
    )
    copy_to: str | None = text(
        "Address that gets a blind copy of all.",
        most=254,
        form="email",
        example="archive@acme.example",
    )
    templates: Mapping[str, Mapping[str, Mapping[str, str]]] = setting(
        template_field(
            "Subject and message by kind of mail and language; the product's own where none is"
            " given."
        ),
        dict,
    )


@dataclass(frozen=True, kw_only=True)
class HelpDesk:
    """What agents answer with."""

    answers: Mapping[str, str] = setting(
        answers_field("Canned answers by name; what stands in braces is filled in for the ticket."),
        usual_answers,
    )


@dataclass(frozen=True, kw_only=True)
class Console:
    """What the pages for people show."""

    first_steps: bool = flag(
        "Whether the first page lists the first steps until all are done.", True
    )


@dataclass(frozen=True, kw_only=True)
class Logo:
    """The picture on documents; uploaded, not written."""

    sha256: str | None = None
    content_type: str | None = None
    size: int = 0
    width: int = 0
    height: int = 0


@dataclass(frozen=True, kw_only=True)
class Organisation:
    """All settings. ``exchange_rates``: units of the own currency for one of another."""

    seller: Seller = Seller()
    bank: Bank = Bank()
    defaults: Defaults = Defaults()
    invoicing: Invoicing = Invoicing()
    reminders: Reminders = field(default_factory=Reminders)
    service_level: ServiceLevel = field(default_factory=ServiceLevel)
    mail: Mail = field(default_factory=Mail)
    help_desk: HelpDesk = field(default_factory=HelpDesk)
    console: Console = Console()
    logo: Logo = Logo()
    exchange_rates: Mapping[str, Decimal] = field(default_factory=dict)

    def exchange_rate(self, currency: str) -> Decimal:
        """Units of the organisation's currency for one of ``currency``; 0 where none is known."""
        if currency == self.defaults.currency:
            return Decimal(1)
        return self.exchange_rates.get(currency, Decimal(0))


GROUPS: Mapping[str, type[Any]] = {
    "seller": Seller,
    "bank": Bank,
    "defaults": Defaults,
    "invoicing": Invoicing,
    "reminders": Reminders,
    "serviceLevel": ServiceLevel,
    "mail": Mail,
    "helpDesk": HelpDesk,
    "console": Console,
}
RATES = "exchangeRates"
LOGO = "logo"
NAMES = (*GROUPS, RATES)


@dataclass(frozen=True)
class Setting:
    """One setting of a group: its attribute, and the field that reads its JSON value."""

    attribute: str
    read: Field


@cache
def settings_of(group: str) -> Mapping[str, Setting]:
    """The settings of a group by their name on the wire."""
    return {
        camel(item.name): Setting(item.name, item.metadata["read"])
        for item in dataclass_fields(GROUPS[group])
    }


@cache
def schema_of(group: str) -> type[Schema]:
    """The schema that reads a group of ``NAMES``; None returns a setting to its default."""
    title = f"{group[0].upper()}{group[1:]}SettingsSchema"
    if group == RATES:
        return RatesSchema
    members: dict[str, Any] = {name: each.read for name, each in settings_of(group).items()}
    return type(title, (Schema,), {"__doc__": GROUPS[group].__doc__, **members})


def _require_positive(rate: Decimal) -> None:
    if rate <= 0:
        raise BadValueError("must be more than 0")


_RATES = fields.Dict(
    Text(3, currency_code),
    Exact(8, validate=[_require_positive, validate.Range(max=10**9)], allow_none=True),
)


class RatesSchema(Schema):
    """Units of the organisation's currency for one of another."""

    class Meta:
        unknown = INCLUDE

    @pre_load
    def read(self, rates: Any, **options: Any) -> Any:
        """Every currency is a member; none is declared."""
        return _RATES.deserialize(rates)
