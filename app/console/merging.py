"""Merging a record with another of its kind: what would come of it is shown before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flask import Response, request

from app.console import engine, session
from app.console.area import console, page, refused_on, see_other
from app.console.language import translated
from app.console.named_records import names_by_key
from app.console.references import KINDS, find
from app.console.sets import Page, page_of
from app.console.steps import OFFERED
from app.console.typed import MistypedError, refused_at
from app.console.wording import count, inside, label
from app.errors import ApiError, NotFoundError
from app.extensions import db
from app.http.security import current_caller
from app.operations.declaration import Operation
from app.permissions import require

# Which of both stays unless another is chosen: who reads a ticket that was known already closes it.
_STAYS = {"clients": "this", "tickets": "other"}


class Outcome(NamedTuple):
    """What a merge does: the one that stays and the other by name, what the first gets of it."""

    key: int
    stays: str
    ends: str
    filled: Sequence[str]
    moved: Sequence[str]


@console.get("/<path>/<int:key>/merge")
def show_merge(path: str, key: int, problem: ApiError | None = None) -> Response:
    """A form for the other record and, once it is typed, what would come of it."""
    db.session.rollback()  # of what was refused
    set_page = page_of(path)
    for permission in _operation(set_page).permissions:
        require(current_caller(), permission)
    record = engine.read(f"{set_page.set_name}({key})").body
    outcome = None
    if problem is None and request.method == "POST":
        try:
            outcome = _merge(set_page, key)
        except ApiError as error:
            problem = error
        db.session.rollback()  # it was only tried
    return page(
        "merge.html", set_page=set_page, key=key, name=set_page.name_of(record), outcome=outcome,
        stays=_STAYS[path], typed=request.form, problem=problem,
    )  # fmt: skip


@console.post("/<path>/<int:key>/merge")
@refused_on(show_merge)
def merge_record(path: str, key: int) -> Response:
    """Merge both, or only look at what would come of it."""
    if request.form.get("step") == "preview":
        return show_merge(path, key)
    outcome = _merge(page_of(path), key)
    message = translated("%(ends)s has become a part of it.", ends=outcome.ends)
    return see_other(f"{session.ROOT}/{path}/{outcome.key}", message)


def _operation(set_page: Page) -> Operation:
    """Raises: NotFoundError, records of this kind are not merged."""
    operation = OFFERED.get((set_page.entity_set.type.name, "merge"))
    if operation is None:
        raise NotFoundError(translated("There is no such step."))
    return operation


def _merge(set_page: Page, key: int) -> Outcome:
    """Do it, by the operation of the API.

    Raises: an ApiError, as the API would answer; ValidationError, what was typed names no record.
    """
    entity, operation = set_page.entity_set.type.name, _operation(set_page)
    with refused_at("sourceId"):
        typed = request.form.get("sourceId", "").strip()
        other = find(KINDS[entity], typed)
        names = names_by_key(entity, [key, other])
        if other not in names:
            raise MistypedError(translated("is the name of no record"))
    if key not in names:
        raise NotFoundError(translated("There is no such record."))
    stays, ends = (other, key) if request.form.get("stays") == "other" else (key, other)
    answer: dict[str, Any] = operation.answer(
        operation.call(stays, operation.load({"sourceId": ends}))
    )
    return Outcome(
        stays,
        names[stays].name,
        names[ends].name,
        [label(name) for name in answer.get("filled", ())],
        [f"{count(rows)} {inside(label(table.capitalize()))}"
         for table, rows in answer["moved"].items() if rows],
    )  # fmt: skip
