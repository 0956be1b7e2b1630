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
from app.http.dry_run import DryRunSchema, tried
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
Write = Callable[..., None]


def _add_views(group: str | None, schema: type[Schema], changes: type[Schema], what: str) -> None:
    """Reading, replacing and changing a group of settings, or with None all of them."""

    @requires("settings:read")
    def show() -> Response:
        return _tagged(group)

    @requires("settings:update")
    def replace(query: dict[str, Any], values: dict[str, Any]) -> Response:
        return _write(group, values, save_settings, query)

    @requires("settings:update")
    def change(query: dict[str, Any], values: dict[str, Any]) -> Response:
        return _write(group, values, change_settings, query)

    show.__doc__ = f"{what}, defaults filled in; the ETag is for `If-Match`."
    left_out = "what is left out returns to its default" if group else "other groups stay"
    replace.__doc__ = f"Replace the given values of {what.lower()}: {left_out}."
    change.__doc__ = f"Set the given values of {what.lower()}; `null` returns to the default."
    for view, name in ((show, "get"), (replace, "put"), (change, "patch")):
        view.__name__ = f"{view.__name__}_{group or 'all'}_settings"
        described: Any = area.response(200, schema)(view)
        if name != "get":
            body = area.arguments(changes)(described)
            described = area.arguments(DryRunSchema, location="query")(body)
            described = area.doc(parameters=[IF_MATCH])(described)
        getattr(area, name)(f"/settings/{group}" if group else "/settings")(described)


def _write(
    group: str | None, values: dict[str, Any], write: Write, query: dict[str, Any]
) -> Response:
    """The settings after a change of a group or, all or nothing, of the groups that are given.

    After a dry run nothing has a version.
    """
    version = _required_version(group)
    with tried(query["dry_run"]):
        if group is None:
            _write_groups({name: each for name, each in values.items() if name != LOGO}, write)
        else:
            write(group, values, version=version)
        answer = _tagged(group)
    if query["dry_run"]:
        del answer.headers["ETag"]
    return answer


def _write_groups(groups: Mapping[str, Mapping[str, Any]], write: Write) -> None:
    refuse_any(
        Detail(f"{group}.{at.field}", at.message)
        for group, values in groups.items()
        for at in setting_problems(group, values)
    )
    for group, values in groups.items():
        write(group, values)


def _tagged(group: str | None) -> Response:
    """A group of settings, or all, with their ETag; 304 where the caller has it."""
    settings = organisation()
    if group is None:
        groups: dict[str, Any] = {name: settings_body(name, settings) for name in NAMES}
        answer = jsonify({**groups, LOGO: logo_body(settings)})
    else:
        answer = jsonify(settings_body(group, settings))
    answer.set_etag(_version(group))
    if request.method in ("GET", "HEAD"):
        answer.make_conditional(request)
    return answer


def _required_version(group: str | None) -> str | None:
    """The version that ``If-Match`` asks for; None where it asks for none.

    Raises: PreconditionFailedError, the settings are others by now.
    """
    version, wanted = _version(group), request.if_match
    if "If-Match" not in request.headers or wanted.star_tag:
        return None
    if not wanted.contains(version):
        raise PreconditionFailedError("These settings were changed by somebody else meanwhile.")
    return version


def _version(group: str | None) -> str:
    settings = organisation()
    if group is not None:
        return version_of(group, settings)
    parts = " ".join(version_of(name, settings) for name in NAMES)
    return hashlib.sha256(f"{parts} {settings.logo.sha256}".encode()).hexdigest()[:32]


_add_views(None, SettingsSchema, SettingsChangesSchema, "The settings of all groups")
for _name in NAMES:
    _add_views(_name, schema_of(_name), schema_of(_name), f"The settings of the group `{_name}`")


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
