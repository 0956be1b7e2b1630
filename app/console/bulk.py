"""One action on the records of a list that were chosen: asked for first, then told one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Response, request
from werkzeug.datastructures import MultiDict

from app.bi.query import Query, pages
from app.console import engine, session, wording
from app.console.area import console, page, refused_on, see_other
from app.console.choices import page_links, page_rows, skipped
from app.console.jobs import is_worker_late
from app.console.language import marked, translated, translated_as
from app.console.list_query import ListQuery, person_of, read_query
from app.console.property_kinds import Field
from app.console.references import KINDS, find
from app.console.saved_views import kept_query
from app.console.sets import Page, page_of, page_of_type
from app.console.steps import arguments, asked_of_many
from app.console.typed import key_in, refused_at
from app.container import bulk
from app.container.declared import of_many
from app.container.engine import read_by_id
from app.errors import ApiError, NotFoundError, ValidationError
from app.http.page_sizes import CONSOLE_CHOICES
from app.http.security import current_caller
from app.jobs.schedule import last_beat
from app.localisation.catalogue import BUTTON
from app.operations.declaration import Button
from app.permissions import allowed

# So many of the chosen records are named before the question is answered.
NAMED = 10
# What changes properties: words of the button, and what is asked for: a person, a state, a text,
# nothing. Operations that many records may take say it in their declarations.
_ACTIONS: Mapping[str, tuple[str, str]] = {
    "me": (marked("Assign to me"), ""),
    "assign": (marked("Assign to …"), "person"),
    "status": (marked("Set status …"), "state"),
    "tag": (marked("Add tag …"), "text"),
    "untag": (marked("Remove tag …"), "text"),
}
_DONE = {
    "tag": marked("Tag added: {value}"),
    "untag": marked("Tag removed: {value}"),
    "undo": marked("Undone"),
}


@dataclass(frozen=True)
class Selection:
    """Records of a list: those of ``keys``, or all that ``query`` finds where ``all`` is set."""

    query: ListQuery
    keys: tuple[int, ...]
    is_all: bool

    def every_key(self) -> list[int]:
        """The keys, looked up where all were chosen.

        Raises: ValidationError, there are more than a run takes.
        """
        if not self.is_all:
            return list(self.keys)
        options = {name: value for name, value in self.query.rows().items() if value is not None}
        keys: list[int] = []
        for rows in pages(Query(self.query.set_page.set_name, {**options, "select": "id"})):
            keys += [row["id"] for row in rows]
            if len(keys) > bulk.MOST:
                most = f"{bulk.MOST:,}"
                text = translated("more than %(most)s records: narrow the list", most=most)
                raise ValidationError([("keys", text)])
        return keys

    @property
    def count(self) -> int:
        if not self.is_all:
            return len(self.keys)
        options = {**self.query.rows(), "orderby": None, "top": 0, "count": "true"}
        return int(engine.read(self.query.set_page.set_name, **options).body["@odata.count"])

    @property
    def titles(self) -> list[tuple[int, str]]:
        """The first of them, by name."""
        set_page, options = self.query.set_page, {"select": f"id,{self.query.set_page.title}"}
        if self.is_all:
            rows = engine.read(set_page.set_name, top=NAMED, **self.query.rows(), **options).rows
        else:
            records = read_by_id(set_page.set_name, self.keys[:NAMED], set_page.title)
            rows = [records[key] for key in self.keys[:NAMED] if key in records]
        return [(row["id"], set_page.name_of(row)) for row in rows]


def actions_for(set_page: Page) -> list[tuple[str, str]]:
    """What may be done with many records of a set: the name of each action and its words."""
    caller, type_ = current_caller(), set_page.entity_set.type
    offered = []
    if allowed(caller, f"{type_.resource}:update"):
        offered = ["me", "assign"] if _person(set_page) else []
        state = type_.properties.get(set_page.state or "")
        offered += ["status"] if state and not state.computed else []
        offered += ["tag", "untag"]
    offered += [
        name
        for name, operation in of_many(type_.name).items()
        if all(allowed(caller, permission) for permission in operation.permissions)
    ]
    return [(name, _label(set_page, name)) for name in offered]


@console.post("/<path>/bulk")
def change_many(path: str) -> Response:
    set_page = page_of(path)
    chosen = _selection(set_page)
    action = request.form.get("action", "")
    if action not in dict(actions_for(set_page)):
        raise NotFoundError(translated("There is no such action."))
    if not chosen.is_all and not chosen.keys:
        return see_other(_list_address(chosen.query.set_page), translated("Choose records first."))
    if chosen.is_all:
        chosen.query.refuse_unknown()
    problem = None
    inputs = _extra_inputs(set_page, action)
    if "confirm" in request.form and all(each.name in request.form for each in inputs):
        try:
            keys = chosen.every_key()
            run_id = bulk.start_run(set_page.entity_set.type.name, keys, _action(set_page, action))
            return see_other(f"{session.ROOT}/bulk/{run_id}")
        except ValidationError as error:
            problem = error
    return page(
        "bulk_ask.html",
        set_page=set_page,
        chosen=chosen,
        count=chosen.count,
        action=action,
        words=_label(set_page, action).removesuffix(" …"),
        warning=translated(button.of_many) if (button := _button(set_page, action)) else "",
        kind=_ACTIONS.get(action, ("", ""))[1],
        states=_states(set_page, chosen) if action == "status" else [],
        value=request.form.get("value", ""),
        asked=inputs,
        typed=request.form,
        query=request.form.get("query", ""),
        problem=problem,
        list_address=_list_address(set_page),
    )


@console.get("/bulk/<int:run_id>")
def show_run(run_id: int, problem: ApiError | None = None) -> Response:
    run = bulk.get_run(run_id)
    set_page = page_of_type(run["entity"])
    assert set_page is not None
    counts = run["counts"]
    status = request.args.get("status", "failed" if counts.get("failed") else "done")
    items = bulk.items_of(run_id, status, page_rows(), skipped())
    titles = read_by_id(set_page.set_name, [item["record_id"] for item in items], set_page.title)
    return page(
        "bulk_run.html",
        set_page=set_page,
        run=run,
        words=_action_words(set_page, run["action"]),
        done=run["total"] - counts.get("waiting", 0),
        counts=counts,
        shown=status,
        items=[
            {**item, "title": titles.get(item["record_id"], {}).get(set_page.title)}
            for item in items
        ],
        links=page_links(counts.get(status, 0)),
        undoable=bulk.can_undo(run),
        late=run["finished_at"] is None and is_worker_late(last_beat()),
        problem=problem,
    )


@console.post("/bulk/<int:run_id>")
@refused_on(show_run)
def undo_many(run_id: int) -> Response:
    return see_other(f"{session.ROOT}/bulk/{bulk.undo_run(run_id)}")


def _action_words(set_page: Page, action: Mapping[str, Any]) -> str:
    if _button(set_page, action["name"]) is not None:
        return _label(set_page, action["name"])
    if action["name"] != "set":
        done = _DONE[action["name"]]
        return translated(done).format(value=action.get("value", ""))
    name = set_page.entity_set.type.by_attribute[action["attribute"]].name
    value = action.get("shown") or action["value"]
    return f"{wording.label(name)}: {wording.words(str(value))}"


def _button(set_page: Page, action: str) -> Button | None:
    operation = of_many(set_page.entity_set.type.name).get(action)
    return None if operation is None else operation.button


def _label(set_page: Page, action: str) -> str:
    button = _button(set_page, action)
    if button is not None:
        return translated_as(BUTTON, button.label)
    return translated(_ACTIONS[action][0])


def _selection(set_page: Page) -> Selection:
    form = request.form
    args = MultiDict(kept_query(form.get("query", "")))
    keys = [key for text in form.getlist("key") if (key := key_in(text)) is not None]
    most = max(*CONSOLE_CHOICES, page_rows())
    return Selection(read_query(set_page, args), tuple(dict.fromkeys(keys[:most])), "all" in form)


def _list_address(set_page: Page) -> str:
    query = urlencode(kept_query(request.form.get("query", "")))
    return f"{session.ROOT}/{set_page.path}/?{query}"


def _action(set_page: Page, name: str) -> dict[str, Any]:
    """The action as a run keeps it.

    Raises: ValidationError, what was typed is no value.
    """
    value = request.form.get("value", "").strip()
    properties = set_page.entity_set.type.properties
    if name == "me":
        caller = current_caller()
        return {"name": "set", "attribute": _person(set_page), "value": caller.user_id,
                "shown": caller.username}  # fmt: skip
    if name == "assign":
        with refused_at("value"):
            key = find(KINDS["User"], value) if value else None
        if key is None:
            raise ValidationError([("value", translated("say who"))])
        return {"name": "set", "attribute": _person(set_page), "value": key, "shown": value}
    if name == "status":
        state = properties[set_page.state or ""]
        if value not in (state.allowed or ()):
            raise ValidationError([("value", translated("choose a state"))])
        typed, _ = arguments(_extra_inputs(set_page, name), request.form, 0)
        missing = [each.name for each in _extra_inputs(set_page, name) if each.required]
        if problems := [(each, translated("is required")) for each in missing if not typed[each]]:
            raise ValidationError(problems)
        besides = {properties[each].attribute: text for each, text in typed.items()}
        return {"name": "set", "attribute": state.attribute, "value": value, "besides": besides}
    if name in ("tag", "untag"):
        longest = properties["tags"].max_length or 50
        if not 0 < len(value) <= longest:
            raise ValidationError(
                [("value", translated("must have 1 to %(most)s letters", most=longest))]
            )
        return {"name": name, "value": value}
    return {"name": name}


def _extra_inputs(set_page: Page, action: str) -> list[Field]:
    """What is asked for besides the state that was chosen."""
    if action != "status":
        return []
    return asked_of_many(f"{set_page.state}:{request.form.get('value', '')}")


def _person(set_page: Page) -> str | None:
    """The attribute that says who is responsible for a record."""
    person = person_of(set_page)
    return None if person is None else person.attribute


def _states(set_page: Page, chosen: Selection) -> list[tuple[str, str]]:
    """The states, each with how many of the chosen records may be set to it."""
    allowed_states = set_page.entity_set.type.properties[set_page.state or ""].allowed or ()
    rows = read_by_id(set_page.set_name, chosen.keys, "allowedActions").values()
    steps = [action for row in rows for action in row["allowedActions"] or ()]
    if chosen.is_all or not any(step.startswith(f"{set_page.state}:") for step in steps):
        return [(state, wording.words(state)) for state in allowed_states]
    of = translated("of %(number)s can be", number=len(chosen.keys))
    return [
        (state, f"{wording.words(state)}: {steps.count(f'{set_page.state}:{state}')} {of}")
        for state in allowed_states
    ]
