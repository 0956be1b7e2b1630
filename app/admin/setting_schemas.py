"""What the settings look like on the wire: schemas made from the groups themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import INCLUDE, ValidationError, post_dump, validates_schema

from app.errors import refuse_any
from app.http import schema_fields as fields
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema
from app.settings.groups import GROUPS, LOGO, NAMES, RATES, settings_of
from app.settings.store import setting_problems

# A group as it is sent back and forth in examples.
_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "seller": {
        "name": "Acme", "legalName": "Acme GmbH", "taxId": "DE136695976",
        "registrationNumber": "HRB 12345", "email": "office@acme.example", "phone": "+49 30 901820",
        "website": "https://acme.example", "street": "Hauptstr. 1", "city": "Berlin",
        "state": "Berlin", "postalCode": "10115", "country": "DE", "eInvoiceScheme": "EM",
        "eInvoiceId": "office@acme.example",
    },
    "bank": {
        "accountHolder": "Acme GmbH", "iban": "DE02120300000000202051", "bic": "BYLADEM1001",
        "bankName": "Bank",
    },
    "defaults": {"currency": "EUR", "language": "de", "timeZone": "Europe/Berlin", "taxRate": 19},
    "invoicing": {"series": "INV", "creditNoteSeries": "CN"},
    "reminders": {"enabled": True, "steps": [-3, 3, 14]},
    "serviceLevel": {"firstResponseHours": {"Urgent": 1}, "autoCloseDays": 7},
    "mail": {
        "senderName": "Acme", "senderAddress": "billing@acme.example",
        "replyTo": "office@acme.example", "copyTo": "archive@acme.example",
    },
    "helpDesk": {"answers": {"Received": "Hello {contact}, we are looking into {number}."}},
    "console": {"firstSteps": True},
    RATES: {"USD": 0.92},
}  # fmt: skip


class Number(fields.Raw):
    """A number of JSON; how large and how exact it may be is checked by the service."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            raise ValidationError("must be a number")
        return value


class GroupSchema(CheckedSchema):
    """A group of settings; the service checks it, so that every way in has the same answers."""

    group: ClassVar[str]

    def check(self, body: dict[str, Any]) -> None:
        """As the group is checked."""
        refuse_any(setting_problems(self.group, body))


class RatesSchema(GroupSchema):
    """Units of the organisation's currency for one of another."""

    group = RATES

    class Meta:
        unknown = INCLUDE

    @validates_schema
    def are_numbers(self, rates: Mapping[str, Any], **options: Any) -> None:
        """The service takes text besides, so that nothing in between need be a float."""
        texts = {
            code: ["must be a number"] for code, rate in rates.items() if isinstance(rate, str)
        }
        if texts:
            raise ValidationError(texts)

    @post_dump(pass_original=True)
    def keep(self, data: Any, rates: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """Every currency is a member; none is declared."""
        return dict(rates)


def _schema_of(group: str) -> type[Schema]:
    title = group[0].upper() + group[1:]
    if group == RATES:
        return RatesSchema
    members: dict[str, Any] = {
        name: _field(setting.schema)(
            allow_none=True, metadata=_described(group, name, setting.schema)
        )
        for name, setting in settings_of(group).items()
    }
    described = {"__doc__": GROUPS[group].__doc__, "group": group}
    return type(f"{title}SettingsSchema", (GroupSchema,), members | described)


def _field(schema: Mapping[str, Any]) -> type[fields.Raw]:
    return Number if "number" in _types(schema) else fields.Raw


def _described(group: str, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    example = _EXAMPLES[group].get(name, schema.get("example"))
    # ``allow_none`` adds null to the type, and would add it once more to a list of types.
    types = [each for each in _types(schema) if each != "null"]
    described = {**schema, "type": types[0]} if len(types) == 1 else dict(schema)
    return described if example is None else {**described, "example": example}


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


class LogoSchema(Schema):
    """The picture on documents."""

    content_type = fields.String(example="image/png")
    sha256 = fields.String()
    size = fields.Integer(description="Bytes.")
    width = fields.Integer(description="Pixels.")
    height = fields.Integer(description="Pixels.")


GROUP_SCHEMAS: Mapping[str, type[Schema]] = {group: _schema_of(group) for group in NAMES}


class _GroupsSchema(CheckedSchema):
    """Some groups of settings."""

    def check(self, body: dict[str, Any]) -> None:
        """As each group is checked."""
        refuse_any(
            detail._replace(field=f"{group}.{detail.field}")
            for group in GROUP_SCHEMAS
            for detail in setting_problems(group, body.get(group, {}))
        )


def _whole(name: str, more: Mapping[str, Any]) -> type[Schema]:
    members: dict[str, Any] = {
        group: fields.Nested(schema, example=_EXAMPLES[group])
        for group, schema in GROUP_SCHEMAS.items()
    }
    return type(name, (_GroupsSchema,), {**members, **more})


SettingsSchema = _whole("SettingsSchema", {LOGO: fields.Nested(LogoSchema, allow_none=True)})
SettingsChangesSchema = _whole(
    "SettingsChangesSchema",
    {
        LOGO: fields.Raw(
            allow_none=True, metadata={"readOnly": True, "description": "Not written here."}
        )
    },
)
