"""The blueprint of the console: its layout, its assets, its headers, its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Flask, Response, current_app, render_template, request
from werkzeug.exceptions import NotFound

from app.config import Config
from app.console import engine, language, session, wording
from app.console.language import translated
from app.console.numbers import reader_signs
from app.console.session import Fields, is_form, packed, typed_fields
from app.console.sets import PAGES
from app.errors import ApiError, NotFoundError
from app.extensions import db
from app.http.error_answers import as_api_error, error_pages
from app.http.request_context import current_request_id
from app.http.security import counted, find_caller, public
from app.localisation.data_files import data_beside
from app.permissions import scope_of

ASSETS = Path(__file__).parent / "static"
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
ASSET_SECONDS = 3600
# An invoice of several thousand lines comes back with the reason, not with an empty page.
MOST_FORM_BYTES = 8_000_000
PRODUCT = "Business Platform"
# Nothing but this service's own files, nothing inline, nobody's frame.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

# Addresses below these are called by programs, whatever they accept.
OF_PROGRAMS = ("/api", "/odata", "/metrics", "/healthz", "/readyz", "/s/")

Posted = Callable[..., Response]

console = Blueprint("console", __name__, url_prefix=session.ROOT, template_folder="templates")

MENU: Mapping[str, Mapping[str, Mapping[str, str]]] = data_beside(__file__, "menu.toml")


def init_app(app: Flask, config: Config) -> None:
    session.init_app(app, config)
    language.init_app(app)
    for each in (wording.problem_text, wording.about, wording.file_size, wording.file_kind,
                 wording.program):  # fmt: skip
        app.jinja_env.filters[each.__name__] = each
    app.register_blueprint(console)
    error_pages.bind(app, error_page)


def page(
    template: str, status: int | None = None, problem: ApiError | None = None, **values: Any
) -> Response:
    """A page with the layout around it.

    Args:
        problem: what was refused: the page has its status, and says what is wrong at its fields.
    """
    if status is None:
        status = 200 if problem is None else problem.status
    if status >= 500:
        language.settle_without_asking()
    elif request.method != "POST":
        db.session.rollback()  # it is only shown: no writer is to wait for its reader
    values.setdefault("problems", engine.problems_by_field(problem))
    text = render_template(template, problem=problem, **values, **_layout(status))
    return Response(text, status, content_type="text/html; charset=utf-8")


def refused_on(show: Callable[..., Response]) -> Callable[[Posted], Posted]:
    """A view of a form: what the service refuses of it is said by the page ``show`` of the same
    address, as its ``problem``. What is not there has a page of its own."""

    def mark(view: Posted) -> Posted:
        @wraps(view)
        def posted(**at: Any) -> Response:
            try:
                return view(**at)
            except NotFoundError:
                raise
            except ApiError as error:
                return show(**at, problem=error)

        return posted

    return mark


def error_page(error: ApiError) -> Response | None:
    """The page of an error for people; None where it is a program that asked."""
    if request.path == "/" and error.status in (401, 404):
        return _way_in()
    if not request.path.startswith(session.ROOT):
        return _lost(error)
    if error.status == 401:
        if fields := typed_fields():
            target = request.path
            return page("sign_in.html", 401, target=target, kept=packed(fields))
        address = request.full_path.rstrip("?") if request.method == "GET" else session.ROOT
        return see_other(f"{session.ROOT}/sign-in?next={quote(address, safe='/?=&')}")
    is_ours = request.headers.get("Sec-Fetch-Site") == "same-origin"
    if isinstance(error, session.OutdatedFormError) and is_ours and (fields := typed_fields()):
        return go_on(
            request.path, fields, translated("You have signed in since this form was opened."), 403
        )
    return page("error.html", error.status, error=error, request_id=current_request_id())


def go_on(target: str, fields: Fields, why: str, status: int = 200) -> Response:
    """A form as it was typed, to be sent by the session of now."""
    return page(
        "go_on.html", status, target=target, fields=fields, why=why, is_form=is_form(target),
        csrf=session.form_token(),
    )  # fmt: skip


def _is_browser() -> bool:
    """Whether a page is asked for, rather than JSON."""
    media_type = request.accept_mimetypes.best_match(("application/json", "text/html"))
    return request.method in ("GET", "HEAD") and media_type == "text/html"


def _lost(error: ApiError) -> Response | None:
    """Where a browser may go on from a wrong address; one of the API is for programs."""
    is_wrong = error.status == 404 or (error.status == 401 and request.url_rule is None)
    if not is_wrong or not _is_browser() or request.path.startswith(OF_PROGRAMS):
        return None
    nothing = as_api_error(NotFound())
    response = page("error.html", nothing.status, error=nothing, request_id=current_request_id())
    response.headers["Vary"] = "Accept"
    return add_policy(response)


def _way_in() -> Response | None:
    """What a browser finds at the root of the service, where there is nothing for programs."""
    if not _is_browser():
        return None
    response = see_other(f"{session.ROOT}/")
    response.headers["Vary"] = "Accept"
    return response


def see_other(address: str, message: str = "") -> Response:
    """Go on at ``address`` with a GET; ``said`` is what that page tells of what was done."""
    if message:
        session.say(message)
    return Response("", 303, {"Location": address, "Cache-Control": "no-store"})


@console.before_request
def take_long_forms() -> None:
    """How long a form may be."""
    request.max_form_memory_size = MOST_FORM_BYTES


@console.before_request
def check_forms() -> None:
    """Take forms of our own pages only; who signs in has none yet, and a file brings its own.

    Raises: ForbiddenError.
    """
    view = current_app.view_functions[request.endpoint or ""]
    checks_itself = any(getattr(view, mark, False) for mark in ("is_public", "is_streamed"))
    if request.method == "POST" and not checks_itself:
        session.check_token(request.form.get(session.TOKEN, ""))


@console.after_request
def add_policy(response: Response) -> Response:
    """What the browser may do with a page of ours."""
    response.headers.setdefault("Content-Security-Policy", POLICY)
    return response


@console.get("/assets/<name>")
@public
@counted("free")
def asset(name: str) -> Response:
    """A style sheet or a script."""
    path = ASSETS / name
    if path.parent != ASSETS or path.suffix not in MEDIA_TYPES or not path.is_file():
        raise NotFoundError(translated("There is no such file."))
    response = Response(path.read_bytes(), content_type=MEDIA_TYPES[path.suffix])
    response.headers["Cache-Control"] = f"public, max-age={ASSET_SECONDS}"
    response.add_etag()
    response.make_conditional(request)
    return response


def _layout(status: int) -> dict[str, Any]:
    caller = find_caller()
    rights = caller.rights if caller else {}
    menu = [
        entry
        for entry in PAGES.values()
        if caller and scope_of(caller, f"{entry.entity_set.type.resource}:read")
    ]
    return {
        "caller": caller,
        "menu": menu,
        "answers": _entries("answers", rights),
        "administration": _entries("administration", rights),
        "form_token": session.form_token if caller else None,
        "said": session.take_said() if caller else "",
        "wording": wording,
        "page_language": language.page_language(),
        "product": PRODUCT,
        # A page about a fault asks for nothing.
        "signs": reader_signs() if caller and status < 500 else None,
        "root": session.ROOT,
        "here": request.path,
        "searched": bool(menu),
        "can": lambda permission: permission in rights,
    }


def _entries(part: str, rights: Mapping[str, str]) -> list[tuple[str, str]]:
    """Address and words of the entries of a part of the menu."""
    entries = MENU[part].items()
    return [(address, entry["words"]) for address, entry in entries if entry["right"] in rights]
