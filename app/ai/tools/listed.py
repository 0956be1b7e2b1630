"""All tools: of each set that can be written, of each declared operation, and the two own ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from app.ai.tools.entities import CreateTool, UpdateTool
from app.ai.tools.operations import OperationTool
from app.ai.tools.own import MailTool, NoteTool
from app.ai.tools.tool import Arguments, Tool
from app.container.declared import DECLARED
from app.container.model import container
from app.http.security import current_caller
from app.permissions import allowed


@cache
def tools() -> Mapping[str, Tool]:
    """The tools by their names, made at the first call."""
    return {tool.name: tool for tool in _tools()}


def _tools() -> Iterator[Tool]:
    for home in container().sets.values():
        if home.service is not None and home.insertable:
            yield CreateTool(home)
        if home.service is not None and home.updatable:
            yield UpdateTool(home)
    proposed = (each for each in DECLARED if each.changes and each.proposed)
    yield from map(OperationTool, proposed)
    yield NoteTool()
    yield MailTool()


def may_propose(tool: Tool, arguments: Arguments) -> bool:
    """Whether the caller has the rights, as far as no record is looked at."""
    caller = current_caller()
    return all(allowed(caller, right) for right in ("ai:act", *tool.rights(arguments)))
