"""The name of a request's route: for numbers and traces, and never what a caller made up."""

from __future__ import annotations

import re
from typing import Any

from flask import request

from app.extensions import Extension

_SET = re.compile(r"/odata(?:/v1)?/([A-Za-z]+)")


class RouteNames:
    """Names routes: the rule that matched; of OData the entity set."""

    def __init__(self, sets: frozenset[str]) -> None:
        self._sets = sets

    def of(self, environ: dict[str, Any]) -> str:
        """The name of the present request's route; ``none`` where no rule matched."""
        if match := _SET.match(environ["PATH_INFO"]):
            return f"/odata/{match[1]}" if match[1] in self._sets else "/odata"
        rule = request.url_rule
        return "none" if rule is None else rule.rule


route_names = Extension[RouteNames]("route_names")
