"""The application: what it is made of, bound together here and nowhere else."""

from __future__ import annotations

import os

from flask import Flask

from app import database
from app.config import Config
from app.edge import errors
from app.edge.transaction import end_transaction
from app.request_context import begin_request


def create_app(config: Config | None = None) -> Flask:
    """Build one independent application; a test passes its own ``Config``.

    Raises: ConfigError, a setting with which the service cannot start.
    """
    app = Flask(__name__, static_folder=None)
    app.config.from_object(config or Config.from_env(os.environ))
    database.init_app(app)
    errors.init_app(app)
    app.before_request(begin_request)
    app.after_request(end_transaction)
    return app
