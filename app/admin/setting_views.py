"""Settings of the organisation, all of them and each group by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from flask import Response, jsonify, request
from marshmallow import Schema as FilesSchema

from app.admin.area import area
from app.errors import Detail, PreconditionFailedError, refuse_any
from app.http import schema_fields as fields
from app.http.dry_run import DryRunSchema, undo_if_dry
from app.http.schema_fields import Schema
from app.http.security import requires
from app.invoices.logo import CONTENT_TYPE, MAX_BYTES, delete_logo, read_logo, save_logo
from app.settings import change_settings, organisation, save_settings
from app.settings.changes import setting_problems
from app.settings.groups import LOGO, NAMES, schema_of
from app.settings.store import logo_body, settings_body, version_of


class LogoSchema(Schema):
    """The picture on documents."""

    content_type = fields.String(example="image/png")
    sha256 = fields.String()
    size = fields.Integer(description="Bytes.")
    width = fields.Integer(description="Pixels.")
    height = fields.Integer(description="Pixels.")


def _whole(name: str, more: Mapping[str, Any]) -> type[Schema]:
    groups: dict[str, Any] = {group: fields.Nested(schema_of(group)) for group in NAMES}
    return type(name, (Schema,), {**groups, **more})


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
    address, schema = f"/settings/{group}", schema_of(group)

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
