"""The application: what it is made of, bound together here and nowhere else."""

from __future__ import annotations

import os

import flask_smorest  # type: ignore[import-untyped]
import structlog
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from app import blobs, cli, logs, sealing
from app.admin.routes import area as admin
from app.ai import answering
from app.ai.routes import area as ai
from app.ai.streams import init_tickets
from app.auth import commands as account_commands, epoch, passwords, tokens
from app.auth.api_keys import KeyUse, key_use
from app.auth.authentication import Authenticator, authenticator
from app.auth.routes import area as auth
from app.bi.routes import area as bi
from app.config import Config
from app.console import routes as console
from app.container.model import container
from app.crm.routes import area as crm
from app.db import engines as database
from app.documents.routes import area as documents
from app.documents.sharing.routes import links
from app.extensions import configuration
from app.guide.routes import blueprint as guide
from app.http import error_answers as errors, limits
from app.http.answer import VERSIONS, Finisher, check_versions, with_headers
from app.http.areas import Area
from app.http.gate import FORM_OVERHEAD_BYTES, Gate
from app.http.health import health
from app.http.idempotency import Idempotency, idempotency
from app.http.json_body import ExactJson
from app.http.route_names import RouteNames, route_names
from app.http.schema_bounds import RecordKey
from app.invoices.public.routes import pages as invoice_pages
from app.invoices.routes import area as invoices, payments_area as payments
from app.kb.routes import area as kb
from app.mail.address import mail_target, parse_mail_url
from app.mail.routes import area as mail
from app.metrics import routes as metrics
from app.odata import routes as odata_routes
from app.openapi import routes as openapi_routes
from app.tickets.routes import area as tickets
from app.tracing import setup as tracing
from app.webhooks.routes import area as webhooks, events_area as events
from app.writing.deletion import services
from app.writing.services import SERVICES

_log = structlog.get_logger()

AREAS: tuple[Area, ...] = (
    auth, admin, crm, invoices, payments, mail, tickets, documents, kb, ai, webhooks, events, bi,
)  # fmt: skip


def create_app(config: Config | None = None) -> Flask:
    """Build one independent application; a test passes its own ``Config``.

    Raises: ConfigError, a setting with which the service cannot start.
    """
    config = config or Config.from_env(os.environ)
    check_versions(VERSIONS)
    logs.configure(config)
    if config.PRODUCTION and config.BASE_URL is None:
        _log.warning("BASE_URL is not set: links name this service localhost (docs/security.md)")
    app = Flask(__name__, static_folder=None)
    app.config.from_object(config)
    app.config["MAX_CONTENT_LENGTH"] = config.max_upload_bytes + FORM_OVERHEAD_BYTES
    app.json = ExactJson(app)
    # A redirect would tell the Host header back, and lose the body of a POST on its way.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.converters["int"] = RecordKey
    if config.TRUSTED_PROXIES:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]
            app.wsgi_app, x_for=config.TRUSTED_PROXIES, x_proto=config.TRUSTED_PROXIES, x_host=0
        )
    database.init_app(app)
    sealing.init_app(app, config)
    blobs.init_app(app)
    mail_target.bind(app, parse_mail_url(config.MAIL_URL or f"file://{config.DATA_DIR / 'mail'}"))
    passwords.init_app(app, config)
    bind_edge(app, config)
    register_areas(app)
    account_commands.init_app(app)
    cli.init_app(app)
    tracing.init_app(app, config)
    return app


def bind_edge(app: Flask, config: Config) -> None:
    """Everything that a request passes before and after its view."""
    configuration.bind(app, config)
    epoch.init_app(app, config)
    with app.app_context():
        engine = database.primary_engine()
    tokens.init_app(app, config, engine, errors.handle)
    authenticator.bind(app, Authenticator(engine, epoch.epoch_source.of(app)))
    init_tickets(app)
    answering.init_app(app, config)
    key_use.bind(app, KeyUse(app))
    logs.request_log.bind(app, logs.RequestLog(config))
    idempotency.bind(app, Idempotency())
    gate = Gate(app, config)
    # Who it is, whether it is too often, and only then whether it may.
    app.before_request(gate.identify)
    limits.init_app(app, config)
    app.before_request(gate.enter)
    # The first that is registered is the last that is called: it sees the answer as it leaves.
    app.after_request(Finisher(app).leave)
    app.teardown_request(gate.release)
    app.wsgi_app = with_headers(app.wsgi_app)  # type: ignore[method-assign]


def register_areas(app: Flask) -> None:
    """The areas of the REST API under their version and, the same handlers, without one."""
    app.config.update(API_TITLE="Business Platform API", API_VERSION="v1", OPENAPI_VERSION="3.1.0")
    api = flask_smorest.Api(app)
    for area in AREAS:
        api.register_blueprint(area, url_prefix=f"/api/v1/{area.name}")
        app.register_blueprint(area, url_prefix=f"/api/{area.name}", name=f"bare-{area.name}")
    api.register_blueprint(links, url_prefix="/s")
    api.register_blueprint(invoice_pages, url_prefix="/s/i")
    app.register_blueprint(health)
    app.register_blueprint(guide)
    services.bind(app, SERVICES)
    odata_routes.init_app(app, container(), configuration.of(app))
    route_names.bind(app, RouteNames(frozenset(container().sets)))
    metrics.init_app(app)
    openapi_routes.init_app(app, container(), api)
    console.init_app(app, configuration.of(app))
    errors.init_app(app)  # after Api, so that every error has the one shape
