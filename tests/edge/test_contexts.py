"""The contexts of a request keep, tell and end what Flask's do."""

from __future__ import annotations

from typing import Any

import pytest
from flask import (
    Flask,
    Response,
    appcontext_popped,
    appcontext_pushed,
    appcontext_tearing_down,
    current_app,
    g,
    request,
    request_tearing_down,
    session,
)
from flask.ctx import RequestContext
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from app.edge.application import Application
from app.edge.asked import AskedRequest
from app.edge.contexts import LeanAppContext, LeanRequestContext

PATHS = ["/odata/Clients(1)?$top=1", "/odata/Gr%C3%B6%C3%9Fe", "//odata/x", "/odata/a%00b", "/"]


class Admitting:
    """A gate and a finisher that let everything pass."""

    def enter(self) -> None: ...

    def admit(self, asked: Any, *, late: bool) -> None: ...

    def release(self, environ: Any) -> None: ...

    def leave(self, response: Response) -> Response:
        return response

    def finish(self, *arguments: Any) -> None: ...


def see(resource: str) -> Response:
    if resource == "broken":
        raise ValueError(resource)
    g.seen = resource
    path, rule = request.path, request.url_rule
    return Response(f"{current_app.name} {path} {rule and rule.rule} {session.accessed}")


@pytest.fixture
def served() -> Application:
    """An application with one view that takes the straight way, warmed up."""
    made = Application("served")
    made.guard(Admitting(), Admitting())  # type: ignore[arg-type]  # all that is asked of them
    made.add_url_rule("/odata/<path:resource>", "odata", see, provide_automatic_options=False)
    made.add_url_rule("/other", "other", lambda: "other")
    made.test_client().get("/other")
    return made


def test_a_view_finds_what_flask_offers(served: Application) -> None:
    answer = served.test_client().get("/odata/Clients(1)")

    assert answer.text == "served /odata/Clients(1) /odata/<path:resource> True"


@pytest.mark.parametrize("path", PATHS)
def test_a_request_is_what_werkzeug_makes_of_it(path: str) -> None:
    environ = EnvironBuilder(path, "http://example.com:81/", method="PATCH").get_environ()
    ours, usual = AskedRequest(dict(environ)), Request(dict(environ))

    for name in ("method", "scheme", "server", "root_path", "path", "query_string",
                 "remote_addr", "shallow", "url", "base_url", "host", "full_path"):  # fmt: skip
        assert getattr(ours, name) == getattr(usual, name), name
    assert dict(ours.headers) == dict(usual.headers)
    assert ours.environ["werkzeug.request"] is ours


def test_below_a_prefix_a_request_is_werkzeugs() -> None:
    environ = EnvironBuilder("/odata/Clients", "http://example.com/below").get_environ()

    assert AskedRequest(environ).root_path == Request(environ).root_path == "/below"


def test_whoever_listens_is_told(served: Application) -> None:
    told: list[str] = []
    listeners = {
        signal: (lambda sender, name=signal.name, **more: told.append(name))
        for signal in (appcontext_pushed, appcontext_popped, appcontext_tearing_down,
                       request_tearing_down)
    }  # fmt: skip
    for signal, listener in listeners.items():
        signal.connect(listener)
    try:
        served.test_client().get("/odata/Clients")
    finally:
        for signal, listener in listeners.items():
            signal.disconnect(listener)

    assert told == [
        "appcontext-pushed", "request-tearing-down", "appcontext-tearing-down",
        "appcontext-popped",
    ]  # fmt: skip


def test_what_ends_a_request_is_called_with_its_error(served: Application) -> None:
    ended: list[Any] = []
    served.teardown_appcontext_funcs.append(lambda error: ended.append(error))
    client = served.test_client()

    assert client.get("/odata/Clients").status_code == 200
    assert client.get("/odata/broken").status_code == 500

    assert ended[0] is None
    assert isinstance(ended[1], ValueError)


def test_contexts_leave_nothing_behind(served: Application) -> None:
    served.test_client().get("/odata/Clients")

    with pytest.raises(RuntimeError, match="outside of application context"):
        _ = current_app.name
    with pytest.raises(RuntimeError, match="outside of request context"):
        _ = request.path


def test_a_request_within_a_context_uses_it(served: Application) -> None:
    with served.app_context():
        g.seen = "nothing yet"
        with served.request_context(EnvironBuilder("/odata/Leads").get_environ()):
            served.view_functions["odata"](resource="Leads")
        assert g.seen == "Leads"


def test_contexts_have_all_that_flasks_have() -> None:
    """A release of Flask that keeps more in them is told here."""
    plain = Flask("plain")
    environ = EnvironBuilder("/").get_environ()
    usual, ours = plain.request_context(environ), LeanRequestContext(Application("x"), environ)

    assert vars(usual).keys() - {"url_adapter"} == vars(ours).keys()
    assert vars(plain.app_context()).keys() == vars(LeanAppContext(Application("x"))).keys()
    assert isinstance(usual, RequestContext)
