"""Flask's contexts, entered and left in the straightest way (docs/adr/0142).

Most of what Flask does around a request is for whoever wants to be told, for sessions and for
addresses to be built, which a request of OData has none of. A release of Flask that keeps its
contexts otherwise is told by ``tests/edge/test_contexts.py``.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from flask.ctx import AppContext, RequestContext
from flask.sessions import NullSession
from flask.signals import appcontext_popped, appcontext_pushed
from werkzeug.routing import MapAdapter

from app.request_context import APP_CONTEXT, REQUEST_CONTEXT

if TYPE_CHECKING:
    from app.edge.application import Application

# Of requests that have none; it refuses to be changed.
_NO_SESSION = NullSession()


class LeanAppContext(AppContext):
    """As Flask's; nobody is told of it where nobody listens."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self.url_adapter = None
        self.g = app.app_ctx_globals_class()
        self._cv_tokens: list[Any] = []

    def push(self) -> None:
        """Make it the running one."""
        if appcontext_pushed.receivers:
            super().push()
        else:
            self._cv_tokens.append(APP_CONTEXT.set(self))

    def pop(self, *error: BaseException | None) -> None:
        """Take leave of it, and of what it kept."""
        if appcontext_popped.receivers or len(self._cv_tokens) != 1 or not error:
            super().pop(*error)
            return
        try:
            self.app.do_teardown_appcontext(error[0])
        finally:
            APP_CONTEXT.reset(self._cv_tokens.pop())


class LeanRequestContext(RequestContext):
    """As Flask's; a request that goes the straight way has no session."""

    app: Application

    def __init__(
        self, app: Application, environ: dict[str, Any], request: Any = None, session: Any = None
    ) -> None:
        self.app = app
        if request is None:
            request = app.request_class(environ)
            request.json_module = app.json
        self.request = request
        self.flashes = None
        self._session = session
        self._after_request_functions: list[Any] = []
        self._cv_tokens: list[Any] = []

    @cached_property
    def url_adapter(self) -> MapAdapter | None:  # type: ignore[override]  # made when asked for
        """What finds views, and makes addresses of them."""
        return self.app.create_url_adapter(self.request)

    def push(self) -> None:
        """Make it the running one, and find the view."""
        request = self.request
        found = None if self._session is not None else self.app.find_straight(request.environ)
        if found is None:
            super().push()
            return
        running, app = APP_CONTEXT.get(None), None
        if running is None or running.app is not self.app:
            app = self.app.app_context()
            app.push()
        self._cv_tokens.append((REQUEST_CONTEXT.set(self), app))
        self._session = _NO_SESSION
        request.url_rule, request.view_args = found

    def pop(self, *error: BaseException | None) -> None:
        """Take leave of it: of files and streams, then of what the application's kept."""
        if len(self._cv_tokens) != 1 or not error or self.app.has_request_teardown:
            super().pop(*error)
            return
        try:
            self.request.close()
        finally:
            token, app = self._cv_tokens.pop()
            REQUEST_CONTEXT.reset(token)
            self.request.environ["werkzeug.request"] = None  # no circle for the collector
            if app is not None:
                app.pop(*error)
