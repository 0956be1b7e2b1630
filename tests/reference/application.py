"""The application that serves the reference model at the root of its address, without sign-in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from flask import Flask, Response, request
from sqlalchemy import Connection

from app.db import engines as database, records
from app.db.transactions import has_begun
from app.db.types import json_text
from app.extensions import db
from app.http.error_answers import LANGUAGE, as_api_error
from app.http.security import make_caller, set_caller
from app.odata.batch.parts import BatchEdge
from app.odata.model import edm
from app.odata.protocol.negotiation import VARY, version_of_error
from app.odata.protocol.request import Request
from app.odata.service import Connections, ODataService
from app.odata.syntax.lexer import Limits
from tests.reference import model, tables
from tests.reference.operations import OPERATIONS, RESULTS
from tests.reference.seed import reseed
from tests.reference.services import MediaService, ProductService, TableService

METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS")
ANYBODY = make_caller(1, "anybody", "reference", {})
LARGEST_BODY = 10_000_000


def reference_container() -> edm.EntityContainer:
    """The model with its services and operations."""
    services = {
        "Products": ProductService(model.PRODUCT, stamped=("changed_at",)),
        "Categories": TableService(model.CATEGORY),
        "ProductDescriptions": TableService(model.DESCRIPTION),
        "MediaItems": MediaService(model.MEDIA_ITEM, stamped=("modified_at",)),
        "DecimalSamples": TableService(model.DECIMAL_SAMPLE),
        "Company": TableService(model.COMPANY_INFO, stamped=("updated_at",)),
    }
    return model.container(services, OPERATIONS, RESULTS)


def create_app(database_url: str) -> Flask:
    """The application on an empty database; the tables are made and filled."""
    app = Flask("reference", static_folder=None)
    app.config.update(SQLALCHEMY_DATABASE_URI=database_url, MAX_CONTENT_LENGTH=LARGEST_BODY)
    app.url_map.merge_slashes = False
    database.init_app(app)
    service = ODataService(
        reference_container(),
        Connections(_reading, records.connection),
        "a key for the tokens of the reference service",
        limits=Limits(),
        max_depth=5,
        edge=BatchEdge(_refused, lambda count: None, hosts=lambda: (request.host,)),
    )
    view = _view(service)
    for rule in ("/", "/<path:resource>"):
        app.add_url_rule(rule, "service", view, methods=METHODS, provide_automatic_options=False)
    app.register_error_handler(Exception, lambda error: _refused(error, "", ""))
    app.before_request(lambda: set_caller(ANYBODY))
    app.after_request(_end_transaction)
    with app.app_context():
        tables.metadata.create_all(db.engine)
        with database.transaction():
            reseed(records.connection())
    return app


def _view(service: ODataService) -> Any:
    def answer(resource: str = "") -> Response:
        environ = request.environ
        raw = environ.get("RAW_URI") or environ.get("REQUEST_URI") or request.full_path
        root = f"{request.scheme}://{request.host}/"
        path = raw.removeprefix(root.rstrip("/")).partition("?")[0].removeprefix("/")
        query = environ["QUERY_STRING"]
        return service.answer(
            Request(
                request.method, path, query, request.headers, request.get_data, root, (root, "/")
            )
        )

    return answer


def _refused(error: Exception, method: str, path: str) -> Response:
    found = as_api_error(error)
    response = Response(json_text(found.to_odata()), found.status, content_type="application/json")
    response.headers["Content-Language"] = LANGUAGE
    for name, value in found.headers.items():
        response.headers[name] = value
    response.headers["OData-Version"] = version_of_error(request.headers.get("OData-MaxVersion"))
    response.headers["Vary"] = VARY
    return response


def _end_transaction(response: Response) -> Response:
    if has_begun():
        if response.status_code >= 400:
            db.session.rollback()
        else:
            db.session.commit()
    return response


def _reading() -> AbstractContextManager[Connection]:
    return database.read_engine().connect()
