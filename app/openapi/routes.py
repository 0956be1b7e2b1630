"""``/openapi.json``, as a file too, and ``/docs``: all of the page comes from this service."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import click
import flask_swagger_ui  # type: ignore[import-untyped]
import orjson
from flask import Blueprint, Flask, Response, render_template, request
from flask.cli import AppGroup
from flask_smorest import Api  # type: ignore[import-untyped]

from app.db.types import json_text
from app.errors import NotFoundError
from app.extensions import Extension
from app.http.areas import descriptions
from app.http.security import counted, public
from app.odata.model import edm
from app.openapi.document import TITLE, build

OWN_ASSETS = Path(__file__).parent / "static"
SWAGGER_ASSETS = Path(flask_swagger_ui.__file__).parent / "dist"
ASSETS = {
    "initializer.js": OWN_ASSETS,
    "resolving.js": OWN_ASSETS,
    "page.css": OWN_ASSETS,
    "swagger-ui.css": SWAGGER_ASSETS,
    "swagger-ui-bundle.js": SWAGGER_ASSETS,
    "favicon-32x32.png": SWAGGER_ASSETS,
}
# Nothing but this service's own files; pictures inside style sheets are data: addresses.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ASSET_SECONDS = 86_400
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
}

# In place of the commands that flask-smorest brings, which know no OData.
group = AppGroup("openapi", help="The OpenAPI document: a file for generators of clients.")
blueprint = Blueprint("openapi", __name__, template_folder="templates")


@dataclass
class OpenApi:
    """The document of one application; made at the first request, because it asks all routes."""

    app: Flask
    container: edm.EntityContainer
    api: Api

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._text: bytes | None = None

    def text(self) -> bytes:
        with self._lock:
            if self._text is None:
                for describe in descriptions.of(self.app):
                    describe()
                document = build(self.app, self.container, self.api.spec.to_dict())
                self._text = json_text(document).encode()
            return self._text


openapi = Extension[OpenApi]("openapi")


def init_app(app: Flask, container: edm.EntityContainer, api: Api) -> None:
    """Add the document and the page to ``app``; after all areas."""
    openapi.bind(app, OpenApi(app, container, api))
    app.register_blueprint(blueprint)
    app.cli.add_command(group)


@blueprint.get("/openapi.json")
@public
def openapi_document() -> Response:
    """Made once a process, with an ETag."""
    text = openapi.current.text()
    response = Response(text, content_type="application/json")
    response.set_etag(hashlib.sha256(text).hexdigest()[:32])
    response.headers["Cache-Control"] = "public, no-cache"
    response.make_conditional(request)
    return response


@blueprint.get("/docs")
@public
def docs() -> Response:
    response = Response(render_template("docs.html", title=TITLE))
    response.headers["Content-Security-Policy"] = PAGE_POLICY
    response.headers["Cache-Control"] = "public, no-cache"
    return response


@blueprint.get("/docs/<name>")
@public
@counted("free")
def docs_asset(name: str) -> Response:
    if name not in ASSETS:
        raise NotFoundError("The page has no such file.")
    content, content_type, tag = _asset(name)
    response = Response(content, content_type=content_type)
    response.set_etag(tag)
    response.headers["Cache-Control"] = f"public, max-age={ASSET_SECONDS}"
    response.make_conditional(request)
    return response


@group.command("write")
@click.argument("file", type=click.File("wb"))
def write(file: BinaryIO) -> None:
    """Write the document to FILE ("-" for the terminal)."""
    document = orjson.loads(openapi.current.text())
    file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    click.echo(f"{len(document['paths'])} paths", err=True)


@cache
def _asset(name: str) -> tuple[bytes, str, str]:
    """The bytes of a file of the page, its media type and its tag; read once."""
    content = (ASSETS[name] / name).read_bytes()
    return content, MEDIA_TYPES[Path(name).suffix], hashlib.sha256(content).hexdigest()[:32]
