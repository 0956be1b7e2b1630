"""Settings of the organisation, all of them and each group by itself; schemas made from them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, ClassVar

from flask import Response, jsonify, request
from marshmallow import (
    INCLUDE,
    Schema as FilesSchema,
    ValidationError,
    post_dump,
    validates_schema,
)

from app.admin.area import area
from app.errors import Detail, PreconditionFailedError, refuse_any
from app.http import schema_fields as fields
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.schema_fields import Schema
from app.http.schema_parts import CheckedSchema
from app.http.security import requires
from app.invoices.logo import CONTENT_TYPE, MAX_BYTES, delete_logo, read_logo, save_logo
from app.settings import change_settings, organisation, save_settings
from app.settings.changes import setting_problems
from app.settings.groups import GROUPS, LOGO, NAMES, RATES, settings_of
from app.settings.store import logo_body, settings_body, version_of

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


# For the description of the API.
IF_MATCH: dict[str, Any] = {
    "in": "header",
    "name": "If-Match",
    "schema": {"type": "string"},
    "description": "The ETag that was read, or `*`: 412 when it is another by now.",
    "example": "*",
}
Write = Callable[[str, Mapping[str, Any]], None]


@area.get("/settings")
@area.response(200, SettingsSchema)
@requires("settings:read")
def show_settings() -> Response:
    """Everything that is set, with the defaults of what is not; the ETag is for `If-Match`."""
    return show_tagged(None, _all())


@area.patch("/settings")
@area.doc(parameters=[IF_MATCH])
@area.arguments(DryRunSchema, location="query")
@area.arguments(SettingsChangesSchema)
@area.response(200, SettingsSchema)
@requires("settings:update")
def change_all(query: dict[str, Any], body: dict[str, Any]) -> Response:
    """Set the given values of the given groups, all or nothing; `null` returns to the default."""
    return _write_all(query, body, change_settings)


@area.put("/settings")
@area.doc(parameters=[IF_MATCH])
@area.arguments(DryRunSchema, location="query")
@area.arguments(SettingsChangesSchema)
@area.response(200, SettingsSchema)
@requires("settings:update")
def replace_all(query: dict[str, Any], body: dict[str, Any]) -> Response:
    """Replace the given groups, all or nothing; other groups stay as they are."""
    return _write_all(query, body, save_settings)


def _write_all(query: dict[str, Any], body: dict[str, Any], write: Write) -> Response:
    require_all()
    groups = {name: values for name, values in body.items() if name != LOGO}  # as it was read
    refuse_any(
        Detail(f"{group}.{at.field}", at.message)
        for group, values in groups.items()
        for at in setting_problems(group, values)
    )
    for group, values in groups.items():
        write(group, values)
    return answer_tagged(query, None, _all())


def _all() -> dict[str, Any]:
    settings = organisation()
    groups: dict[str, Any] = {group: settings_body(group, settings) for group in NAMES}
    return {**groups, LOGO: logo_body(settings)}


def _add_group(group: str) -> None:
    address, schema = f"/settings/{group}", GROUP_SCHEMAS[group]

    @requires("settings:read")
    def show() -> Response:
        return show_tagged(group, settings_body(group, organisation()))

    @requires("settings:update")
    def replace(query: dict[str, Any], values: dict[str, Any]) -> Response:
        save_settings(group, values, version=required_version(group))
        return answer_tagged(query, group, settings_body(group, organisation()))

    @requires("settings:update")
    def change(query: dict[str, Any], values: dict[str, Any]) -> Response:
        change_settings(group, values, version=required_version(group))
        return answer_tagged(query, group, settings_body(group, organisation()))

    show.__doc__ = f"The settings of the group `{group}`, defaults filled in."
    replace.__doc__ = f"Replace the group `{group}`: what is left out returns to its default."
    change.__doc__ = f"Set the given values of the group `{group}`; `null` returns to the default."
    for view, name in ((show, "get"), (replace, "put"), (change, "patch")):
        view.__name__ = f"{view.__name__}_{group}_settings"
        described: Any = area.response(200, schema)(view)
        if name != "get":
            body = area.arguments(schema)(described)
            described = area.arguments(DryRunSchema, location="query")(body)
            described = area.doc(parameters=[IF_MATCH])(described)
        getattr(area, name)(address)(described)


for _name in NAMES:
    _add_group(_name)


class LogoFileSchema(FilesSchema):
    """The picture, as a part of a form."""

    file = fields.Upload(required=True, description="A PNG or JPEG picture.")


@area.put("/settings/logo")
@area.arguments(LogoFileSchema, location="files")
@area.response(200, LogoSchema)
@requires("settings:update")
def put_logo(files: dict[str, Any]) -> dict[str, Any] | None:
    """Print a PNG or JPEG picture on documents that are issued from now on."""
    with closing(files["file"]) as picture:
        content = picture.stream.read(MAX_BYTES + 1)
    save_logo(content)
    return logo_body(organisation())


@area.get("/settings/logo")
@area.response(200, {"type": "string", "format": "binary"}, content_type=CONTENT_TYPE)
@area.alt_response(304, description="It is as you know it.", success=True)
@area.alt_response(404, response="Error404")
@requires("settings:read")
def show_logo() -> Response:
    """The logo, a PNG."""
    answer = Response(read_logo(), mimetype=CONTENT_TYPE)
    answer.set_etag(str(organisation().logo.sha256))
    answer.make_conditional(request)
    return answer


@area.delete("/settings/logo")
@area.response(204)
@requires("settings:update")
def remove_logo() -> None:
    """Print the name of the seller instead."""
    delete_logo()


def required_version(group: str) -> str | None:
    """The version of the group that ``If-Match`` asks for; None where it asks for none.

    Raises: PreconditionFailedError, the group is another by now.
    """
    return _required(version_of(group, organisation()))


def require_all() -> None:
    """Refuse when ``If-Match`` asks for other settings than those there are.

    Raises: PreconditionFailedError.
    """
    _required(_version_of_all())


def show_tagged(group: str | None, body: dict[str, Any]) -> Response:
    """``body`` with the ETag of the group, or of all; 304 where the caller has it."""
    answer = jsonify(body)
    answer.set_etag(version_of(group, organisation()) if group else _version_of_all())
    if request.method in ("GET", "HEAD"):
        answer.make_conditional(request)
    return answer


def answer_tagged(query: dict[str, Any], group: str | None, body: dict[str, Any]) -> Response:
    """The same after a change; after a dry run nothing has a version."""
    answer = show_tagged(group, body)
    if undo_if_dry(query):
        del answer.headers["ETag"]
    return answer


def _required(version: str) -> str | None:
    wanted = request.if_match
    if "If-Match" not in request.headers or wanted.star_tag:
        return None
    if not wanted.contains(version):
        raise PreconditionFailedError("These settings were changed by somebody else meanwhile.")
    return version


def _version_of_all() -> str:
    settings = organisation()
    parts = " ".join(version_of(group, settings) for group in NAMES)
    return hashlib.sha256(f"{parts} {settings.logo.sha256}".encode()).hexdigest()[:32]
