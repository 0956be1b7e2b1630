"""What a request of a batch takes from the answers before it (Protocol 11.7.3 to 11.7.5).

``$1`` at the start of a URL is the entity that request 1 made or returned, in ``If-Match`` its
entity tag; ``$1/name`` in a query, or as a text of a JSON body, a value of its answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from flask import Response
from werkzeug.datastructures import Headers

from app.db.types import json_text
from app.errors import FailedDependencyError, InvalidQueryError, PreconditionFailedError
from app.http.json_body import parse_json
from app.odata.batch.parts import SYSTEM_RESOURCES, Part
from app.odata.model import edm
from app.odata.syntax.literals import quoted

_FIRST_SEGMENT = re.compile(r"\$([^/?]+)(?=[/?]|$)")
_IN_EXPRESSION = re.compile(
    r"('(?:[^']|'')*')|\$([^\s/()',]+)/\$succeeded|\$([\w.~-]+)((?:/[\w.@]+)*)"
)
_IN_BODY = re.compile(r"\$([^/]+)((?:/[\w.@]+)+)")
_CONTEXT = re.compile(r"\$metadata#(\w+)")
# Types whose literals name them.
_NAMED = (edm.DURATION, edm.BINARY)


@dataclass(frozen=True)
class Outcome:
    """What became of a request: its answer, and the URL that it was about."""

    answer: Response
    url: str

    @property
    def failed(self) -> bool:
        return self.answer.status_code >= 400

    @property
    def entity_url(self) -> str:
        """The entity that was made or returned."""
        return self.answer.headers.get("Location") or self.url

    @cached_property
    def body(self) -> Any:
        """The JSON of the answer; None where there is none."""
        if not (self.answer.mimetype or "").endswith("json"):
            return None
        return parse_json(self.answer.get_data())


class References:
    """The outcomes so far, by id."""

    def __init__(self, container: edm.EntityContainer) -> None:
        self._container = container
        self._outcomes: dict[str, Outcome] = {}
        self._failed_groups: dict[str, bool] = {}

    def note(self, part: Part, outcome: Outcome) -> None:
        if part.id is not None:
            self._outcomes[part.id] = outcome

    def note_group(self, group: str, *, failed: bool) -> None:
        self._failed_groups[group] = failed

    def forget(self, parts: tuple[Part, ...]) -> None:
        """The requests of a group that was undone have made nothing."""
        for part in parts:
            if part.id is not None:
                self._outcomes[part.id] = Outcome(Response(status=424), part.url)

    def has_failed(self, name: str) -> bool:
        if name in self._failed_groups:
            return self._failed_groups[name]
        outcome = self._outcomes.get(name)
        return outcome is not None and outcome.failed

    def urls(self) -> Mapping[str, str]:
        """Id -> URL of the entity, for ``@id`` and ``@odata.bind`` in bodies."""
        return {
            name: outcome.entity_url
            for name, outcome in self._outcomes.items()
            if not outcome.failed
        }

    # --- into a request

    def resolved(self, part: Part) -> Part:
        """``part`` with its references replaced.

        Raises: InvalidQueryError, there is no such request before it; FailedDependencyError, it
            failed; PreconditionFailedError, its answer has no entity tag.
        """
        return replace(
            part,
            url=self._url(part.url),
            headers=self._headers(part.headers),
            body=self._body(part),
        )

    def _url(self, url: str) -> str:
        match = _FIRST_SEGMENT.match(url)
        if match is not None and match[1].partition("(")[0] not in SYSTEM_RESOURCES:
            base = self._outcome(match[1]).entity_url
            url = base.partition("?")[0].rstrip("/") + url[match.end() :]
        path, mark, query = url.partition("?")
        if "$" not in query:
            return url
        pairs = []
        for pair in query.split("&"):
            name, equals, value = pair.partition("=")
            pairs.append(name + equals + self.in_expression(value, _encoded))
        return path + mark + "&".join(pairs)

    def in_expression(self, text: str, written: Callable[[str], str] = str) -> str:
        """An expression with literals in place of ``$1/name`` and ``$1/$succeeded``; what is quoted
        stays.

        Args:
            written: how a literal is written in the text.
        Raises: InvalidQueryError, nothing before it has such a name or value;
            FailedDependencyError, what has it failed.
        """

        def value(match: re.Match[str]) -> str:
            _, group_or_id, name, path = match.groups()
            if group_or_id is not None:
                return "false" if self._has_failed(group_or_id) else "true"
            if name not in self._outcomes:
                return match[0]
            return written(self._literal(name, path.split("/")[1:]))

        return _IN_EXPRESSION.sub(value, text) if "$" in text else text

    def _has_failed(self, name: str) -> bool:
        if name not in self._failed_groups and name not in self._outcomes:
            raise InvalidQueryError(f"There is no request or group {name!r} before this one.")
        return self.has_failed(name)

    def _headers(self, headers: Headers) -> Headers:
        resolved = headers
        for name in ("If-Match", "If-None-Match"):
            text = headers.get(name, "").strip()
            if text.startswith("$"):
                tag = self._outcome(text[1:]).answer.headers.get("ETag")
                if tag is None:
                    raise PreconditionFailedError(f"The answer to request {text[1:]} has no ETag.")
                resolved = Headers(resolved)
                resolved.set(name, tag)
        return resolved

    def _body(self, part: Part) -> bytes:
        """Texts ``$1/name`` as values, where the request names 1 among those it depends on."""
        if not part.depends_on or b'"$' not in part.body:
            return part.body
        return json_text(self._replaced(parse_json(part.body), part)).encode()

    def _replaced(self, value: Any, part: Part) -> Any:
        if isinstance(value, dict):
            return {name: self._replaced(item, part) for name, item in value.items()}
        if isinstance(value, list):
            return [self._replaced(item, part) for item in value]
        match = _IN_BODY.fullmatch(value) if isinstance(value, str) else None
        if match is None or match[1] not in part.depends_on or match[1] not in self._outcomes:
            return value
        return self._value(match[1], match[2].split("/")[1:])

    # --- from an answer

    def _outcome(self, name: str) -> Outcome:
        outcome = self._outcomes.get(name)
        if outcome is None:
            raise InvalidQueryError(f"There is no request {name!r} before this one.")
        if outcome.failed:
            raise FailedDependencyError(f"Request {name!r}, which this one needs, failed.")
        return outcome

    def _value(self, name: str, steps: list[str]) -> Any:
        value = self._outcome(name).body
        for step in steps:
            if not isinstance(value, dict) or step not in value:
                raise InvalidQueryError(f"The answer to request {name!r} has no {'/'.join(steps)}.")
            value = value[step]
        if not steps and isinstance(value, dict):
            value = value.get("value", value)
        return value

    def _literal(self, name: str, steps: list[str]) -> str:
        value = self._value(name, steps)
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, int | Decimal):
            return format(value, "f") if isinstance(value, Decimal) else str(value)
        if not isinstance(value, str):
            raise InvalidQueryError(f"${name}/{'/'.join(steps)} is no single value.")
        type_ = self._type(name, steps)
        if isinstance(type_, edm.EnumType):
            return f"{self._container.namespace}.{type_.name}{quoted(value)}"
        if not isinstance(type_, edm.PrimitiveType) or type_ == edm.STRING:
            return quoted(value)
        if type_ in _NAMED:
            return f"{type_.name.removeprefix('Edm.').lower()}{quoted(value)}"
        return value

    def _type(self, name: str, steps: list[str]) -> edm.EdmType | None:
        """The type of a property of the answer, which JSON alone does not tell."""
        body = self._outcome(name).body
        context = str(body.get("@odata.context", body.get("@context", "")))
        match = _CONTEXT.search(context)
        home = self._container.sets.get(match[1]) if match else None
        kind: edm.EdmType | edm.EntityType | None = None if home is None else home.type
        for step in steps:
            kind = self._container.inside(kind, step)
        return None if isinstance(kind, edm.EntityType) else kind


def _encoded(literal: str) -> str:
    """A literal as it is written in a query string."""
    return literal.replace("%", "%25").replace("&", "%26").replace("#", "%23").replace("+", "%2B")
