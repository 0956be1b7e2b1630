"""The logo on documents: uploaded, shown, removed."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from flask import Response, request
from flask_smorest.fields import Upload  # type: ignore[import-untyped]
from marshmallow import Schema

from app.admin.area import area
from app.admin.setting_schemas import LogoSchema
from app.http.security import requires
from app.invoices.logo import CONTENT_TYPE, MAX_BYTES, delete_logo, read_logo, save_logo
from app.settings import organisation
from app.settings.store import shown_logo


class LogoFileSchema(Schema):
    """The picture, as a part of a form."""

    file = Upload(required=True, metadata={"description": "A PNG or JPEG picture."})


@area.put("/settings/logo")
@area.arguments(LogoFileSchema, location="files")
@area.response(200, LogoSchema)
@requires("settings:update")
def put_logo(files: dict[str, Any]) -> dict[str, Any] | None:
    """Print a PNG or JPEG picture on documents that are issued from now on."""
    with closing(files["file"]) as picture:
        content = picture.stream.read(MAX_BYTES + 1)
    save_logo(content)
    return shown_logo(organisation())


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
