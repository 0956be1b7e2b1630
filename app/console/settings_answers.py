"""Canned answers in the settings."""

from __future__ import annotations

from flask import Response, request

from app.console import engine
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.settings import ADDRESS, TABS
from app.errors import ApiError
from app.extensions import db
from app.http.security import requires
from app.settings import canned_answers, change_settings, organisation
from app.settings.store import version_of

_BLANK_ROWS = 2
_GROUP = "helpDesk"


@console.get("/settings/answers")
@requires("settings:read")
def show_canned_answers(problem: ApiError | None = None) -> Response:
    """The answers, and rows for more."""
    settings = organisation()
    db.session.rollback()  # the form is only shown
    answers = list(settings.help_desk.answers.items()) if problem is None else _typed_answers()
    problems = engine.problems_by_field(problem)
    return page(
        "settings_answers.html",
        tabs=TABS,
        group="answers",
        canned=[*answers, *[("", "")] * _BLANK_ROWS],
        places=canned_answers.PLACES,
        version=request.form.get("version") or version_of(_GROUP, settings),
        problem=problem,
        problems={name.removeprefix("answers."): text for name, text in problems.items()},
        at=[name for name, _ in answers if name],
    )


@console.post("/settings/answers")
@requires("settings:update")
@refused_on(show_canned_answers)
def save_canned_answers() -> Response:
    """Save the answers that have a name and a text; an empty row is taken away."""
    answers = {name: text for name, text in _typed_answers() if name or text}
    change_settings(_GROUP, {"answers": answers}, version=request.form.get("version", ""))
    return see_other(f"{ADDRESS}/answers", translated("Saved."))


def _typed_answers() -> list[tuple[str, str]]:
    names, texts = request.form.getlist("name"), request.form.getlist("text")
    return [
        (name.strip(), text.replace("\r\n", "\n").strip())
        for name, text in zip(names, texts, strict=False)
    ]
