"""Flask with the edge around it: what every answer carries is added where it leaves.

Headers are added to the list that goes to the server, not to the response object, which checks
each of them twice; nothing here is asynchronous, so no function is asked whether it is. A request
to a view of no blueprint, as those of OData are, has nothing between the gate and the view
(docs/adr/0160).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from flask import Flask, Request, Response
from flask.signals import appcontext_tearing_down, request_tearing_down
from werkzeug.routing import MapAdapter, Rule

from app.edge.answer import Finisher
from app.edge.asked import AskedRequest
from app.edge.contexts import LeanAppContext, LeanRequestContext
from app.edge.finding import Tails, find, tails_of
from app.edge.gate import Gate
from app.edge.leaving import Leaving
from app.engines.premise import PremiseError, premise
from app.extensions import db
from app.request_context import REQUEST_CONTEXT, begin_exchange, current_globals
from app.shared_commit import forget_share


class Application(Flask):
    """The service as a WSGI application; ``guard`` comes before the first request."""

    request_class = AskedRequest
    gate: Gate
    finisher: Finisher

    def guard(self, gate: Gate, finisher: Finisher) -> None:
        """Put every request between ``gate`` and ``finisher``."""
        self.gate, self.finisher = gate, finisher
        self.before_request(gate.enter)
        self.after_request(finisher.leave)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """``func`` as it is."""
        return func

    def app_context(self) -> LeanAppContext:
        """What the running request, job or command keeps (``flask.g``)."""
        return LeanAppContext(self)

    def request_context(self, environ: dict[str, Any]) -> LeanRequestContext:
        """What Flask keeps of a request."""
        return LeanRequestContext(self, environ)

    def do_teardown_appcontext(self, exc: Any = None) -> None:
        """Call what is to be called at the end of a request, a job or a command."""
        for function in reversed(self.teardown_appcontext_funcs):
            function(exc)
        if appcontext_tearing_down.receivers:
            appcontext_tearing_down.send(self, exc=exc)

    @property
    def has_request_teardown(self) -> bool:
        """Whether somebody is to be called at the end of a request."""
        return bool(self.teardown_request_funcs or request_tearing_down.receivers)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """What finds the view of ``request``: by path and method, never by host.

        Flask binds it to the host as well, which no route asks for and nothing here is built from.
        """
        if request is None:
            return None
        environ = request.environ
        return MapAdapter(
            self.url_map, "", "/", "", environ["wsgi.url_scheme"], path_of(environ),
            environ["REQUEST_METHOD"], environ.get("QUERY_STRING", ""),
        )  # fmt: skip

    def find_straight(self, environ: dict[str, Any]) -> tuple[Rule, dict[str, str]] | None:
        """The rule of a view with nothing around it, and its arguments; None for any other."""
        if not self._got_first_request:
            return None
        found = find(self._tails, path_of(environ), environ["REQUEST_METHOD"])
        return found if found is not None and found[0].endpoint in self._straight else None

    def full_dispatch_request(self) -> Any:
        """The answer to the request of this context, as something that WSGI calls."""
        context: Any = REQUEST_CONTEXT.get()
        asked: Request = context.request
        rule = asked.url_rule
        if rule is None or not self._got_first_request or rule.endpoint not in self._straight:
            return Leaving(super().full_dispatch_request())
        answer = self._answer_straight(asked, rule, late=True)
        if premise.is_open or premise.is_wrong:
            answer = self._answer_checked(context, rule, answer)
        response: Response = answer if type(answer) is Response else self.make_response(answer)
        for note in context._after_request_functions:
            response = note(response)
        return Leaving(self.finisher.leave(response))

    def _answer_straight(self, asked: Request, rule: Rule, *, late: bool) -> Any:
        """What the gate or the view answers, or the handler of their error."""
        try:
            answer: Any = self.gate.admit(asked, late=late)
            if answer is None:
                answer = self.view_functions[rule.endpoint](**asked.view_args or {})
        except PremiseError:
            return None
        except Exception as error:  # as Flask does: handlers decide what it is
            return self.handle_user_exception(error)
        return answer

    def _answer_checked(self, context: Any, rule: Rule, answer: Any) -> Any:
        """``answer``, if what the request took for granted is so; else one that asks at once."""
        try:
            if premise.holds(self.gate.current_epoch):
                return answer
        except Exception as error:  # the database does not answer
            return self.handle_user_exception(error)
        db.session.remove()
        forget_share()
        current_globals().clear()
        context._after_request_functions.clear()
        return self._answer_straight(context.request, rule, late=False)

    @cached_property
    def _tails(self) -> Tails:
        """The rules that take whatever follows a prefix."""
        return tails_of(self.url_map)

    @cached_property
    def _straight(self) -> frozenset[str]:
        """The endpoints of views with nothing around them but the gate and the finisher.

        Views of blueprints may have functions of theirs around them, and other views leave OPTIONS
        to Flask, or have a session.
        """
        only_ours = (
            self.before_request_funcs.get(None) == [self.gate.enter]
            and self.after_request_funcs.get(None) == [self.finisher.leave]
            and not self.teardown_request_funcs
            and not self.url_value_preprocessors
        )
        endpoints = (rule.endpoint for _, rule, _ in self._tails if only_ours)
        return frozenset(endpoint for endpoint in endpoints if "." not in endpoint)

    def wsgi_app(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer one request."""
        exchange = begin_exchange(environ)
        finish = self.finisher.finish

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            finish(environ, exchange, status, headers)
            return start_response(status, headers, exc_info)

        try:
            return super().wsgi_app(environ, start)
        finally:
            forget_share()
            premise.is_open = premise.is_wrong = False  # of a request that was broken off
            self.gate.release(environ)


def path_of(environ: dict[str, Any]) -> str:
    """The decoded path of a request."""
    path: str = environ["PATH_INFO"]
    if path.isascii():
        return path
    return path.encode("latin-1").decode("utf-8", "replace")  # PEP 3333: each byte as a character
