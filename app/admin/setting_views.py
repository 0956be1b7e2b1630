"""Settings of the organisation: all of them, and each group by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response

from app.admin.area import area
from app.admin.setting_schemas import GROUP_SCHEMAS, SettingsChangesSchema, SettingsSchema
from app.admin.setting_tags import (
    IF_MATCH,
    answer_tagged,
    require_all,
    required_version,
    show_tagged,
)
from app.errors import Detail, refuse_any
from app.http.dry_run import DryRunSchema
from app.http.security import requires
from app.settings import change_settings, organisation, save_settings
from app.settings.groups import LOGO, NAMES
from app.settings.store import setting_problems, shown, shown_logo

Write = Callable[[str, Mapping[str, Any]], None]


@area.get("/settings")
@area.response(200, SettingsSchema)
@requires("settings:read")
def show_settings() -> Response:
    """Everything that is set, with the defaults of what is not; the ETag is for `If-Match`."""
    return show_tagged(None, _all())


@area.patch("/settings")
@area.doc(parameters=[IF_MATCH])
@area.arguments(DryRunSchema, location="query")
@area.arguments(SettingsChangesSchema)
@area.response(200, SettingsSchema)
@requires("settings:update")
def change_all(query: dict[str, Any], body: dict[str, Any]) -> Response:
    """Set the given values of the given groups, all or nothing; `null` returns to the default."""
    return _write_all(query, body, change_settings)


@area.put("/settings")
@area.doc(parameters=[IF_MATCH])
@area.arguments(DryRunSchema, location="query")
@area.arguments(SettingsChangesSchema)
@area.response(200, SettingsSchema)
@requires("settings:update")
def replace_all(query: dict[str, Any], body: dict[str, Any]) -> Response:
    """Replace the given groups, all or nothing; other groups stay as they are."""
    return _write_all(query, body, save_settings)


def _write_all(query: dict[str, Any], body: dict[str, Any], write: Write) -> Response:
    require_all()
    groups = {name: values for name, values in body.items() if name != LOGO}  # as it was read
    refuse_any(
        Detail(f"{group}.{at.field}", at.message)
        for group, values in groups.items()
        for at in setting_problems(group, values)
    )
    for group, values in groups.items():
        write(group, values)
    return answer_tagged(query, None, _all())


def _all() -> dict[str, Any]:
    settings = organisation()
    groups: dict[str, Any] = {group: shown(group, settings) for group in NAMES}
    return {**groups, LOGO: shown_logo(settings)}


def _add_group(group: str) -> None:
    """The views of one group."""
    address, schema = f"/settings/{group}", GROUP_SCHEMAS[group]

    @requires("settings:read")
    def show() -> Response:
        return show_tagged(group, shown(group, organisation()))

    @requires("settings:update")
    def replace(query: dict[str, Any], values: dict[str, Any]) -> Response:
        save_settings(group, values, version=required_version(group))
        return answer_tagged(query, group, shown(group, organisation()))

    @requires("settings:update")
    def change(query: dict[str, Any], values: dict[str, Any]) -> Response:
        change_settings(group, values, version=required_version(group))
        return answer_tagged(query, group, shown(group, organisation()))

    show.__doc__ = f"The settings of the group `{group}`, defaults filled in."
    replace.__doc__ = f"Replace the group `{group}`: what is left out returns to its default."
    change.__doc__ = f"Set the given values of the group `{group}`; `null` returns to the default."
    for view, name in ((show, "get"), (replace, "put"), (change, "patch")):
        view.__name__ = f"{view.__name__}_{group}_settings"
        described: Any = area.response(200, schema)(view)
        if name != "get":
            body = area.arguments(schema)(described)
            described = area.arguments(DryRunSchema, location="query")(body)
            described = area.doc(parameters=[IF_MATCH])(described)
        getattr(area, name)(address)(described)


for _name in NAMES:
    _add_group(_name)
