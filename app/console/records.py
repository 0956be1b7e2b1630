"""The page of a record: what it is, what belongs to it, and what may be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flask import Response, request
from markupsafe import Markup

from app.console import engine, session
from app.console.area import console, page, see_other
from app.console.documents import files_of
from app.console.related import RELATED_ROWS, page_behind, people_of, readable, related
from app.console.sets import Page, page_of
from app.console.steps import preset, steps_of, take, told
from app.console.tickets import talk_of
from app.errors import ApiError
from app.kb.rendering import to_html


@console.get("/<path>/<int:key>")
def show_record(path: str, key: int) -> Response:
    """One record."""
    return _show(page_of(path), key)


@console.post("/<path>/<int:key>")
def act_on_record(path: str, key: int) -> Response:
    """Do one of the steps that the page offered; the ETag of the page must still stand."""
    session.check_form()
    wanted = page_of(path)
    step = request.form.get("step", "")
    version = request.form.get("version")
    try:
        if step == "delete":
            engine.send("DELETE", f"{wanted.set_name}({key})", None, version)
            session.say(f"{wanted.one} deleted.")
            return see_other(f"{session.ROOT}/{path}/")
        answer = take(wanted.set_name, key, step, version, request.form)
    except ApiError as error:
        return _show(wanted, key, error)
    session.say(told(wanted.one, step, answer))
    return see_other(f"{session.ROOT}/{path}/{key}")


def _show(wanted: Page, key: int, error: ApiError | None = None) -> Response:
    type_ = wanted.entity_set.type
    names = [name for name in type_.properties if name != "id"]
    parents, children = readable(wanted, wanted.parents), readable(wanted, wanted.related)
    expand = ",".join([*parents, *(f"{each}($top={RELATED_ROWS + 1})" for each in children)])
    found = engine.read(
        f"{wanted.set_name}({key})", select=",".join(["id", *names]), expand=expand or None
    ).body
    hidden = _hidden(wanted, parents)
    return page(
        "record.html",
        200 if error is None else error.status,
        wanted=wanted,
        record=found,
        key=key,
        version=found.get("@odata.etag"),
        properties=type_.properties,
        fields=sorted((name for name in names if name not in hidden), key=_is_long(found)),
        people=people_of(found),
        parents=[(name, found[name], page_behind(wanted, name)) for name in parents],
        related=[related(wanted, key, name, found[name]) for name in children],
        steps=steps_of(found.get("allowedActions") or []),
        preset=preset,
        typed=request.form,
        problems={} if error is None else engine.problems_of(error),
        may_change="update" in (found.get("allowedActions") or []),
        files=files_of(found) if wanted.set_name == "Documents" else None,
        talk=talk_of(key) if wanted.set_name == "Tickets" else None,
        article=_article(found) if wanted.set_name == "KbArticles" else None,
        problem=error,
        query=engine.address(f"{wanted.set_name}({key})", expand=expand or None),
    )


def _hidden(wanted: Page, parents: Sequence[str]) -> set[str]:
    """What the page shows elsewhere, or not at all."""
    hidden = {"allowedActions", "customFields", wanted.title}
    hidden |= {f"{name[:1].lower()}{name[1:]}Id" for name in parents}
    return hidden | ({"body", "bodyFormat"} if wanted.set_name == "KbArticles" else set())


def _is_long(record: dict[str, Any]) -> Callable[[str], bool]:
    """Whether a property takes more than a line: those come last."""

    def is_long(name: str) -> bool:
        value = record.get(name)
        return isinstance(value, dict) or (
            isinstance(value, list) and any(isinstance(item, dict) for item in value)
        )

    return is_long


def _article(record: dict[str, Any]) -> Markup:
    return Markup(to_html(record["body"] or "", record["bodyFormat"]))  # made safe there
