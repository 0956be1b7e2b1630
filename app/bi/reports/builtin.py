"""The built-in reports, read from their file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from app.bi.charts import Chart
from app.bi.plans.columns import rounded_apart
from app.bi.reports.definition import Column, Parameter, Report
from app.container.measures import ALL, MEASURES
from app.localisation.data_files import data_beside


@cache
def built_in() -> Mapping[int, Report]:
    """Id -> report."""
    data = data_beside(__file__, "builtin.toml")
    return {report["id"]: _report(report) for report in data["reports"]}


def _report(data: Mapping[str, Any]) -> Report:
    return Report(
        id=data["id"],
        key=data["key"],
        name=data["name"],
        description=data["description"],
        entity=data["entity"],
        options={"apply": _with_values(data["apply"]), "orderby": data["orderby"]},
        base=MEASURES[data["counts"]].condition if "counts" in data else data["base"],
        parameters=tuple(_parameter(text) for text in data["parameters"]),
        columns=tuple(_column(text) for text in data["columns"]),
        chart=Chart(**data["chart"]),
    )


def _with_values(text: str) -> str:
    """A query in which ``{Receivables}`` is what that measure sums up."""
    text = text.replace("{averageAmount}", rounded_apart("averageAmount", "currency"))
    for measure in ALL:
        text = text.replace(f"{{{measure.name}}}", measure.value or "1")
    return text


def _parameter(text: str) -> Parameter:
    """``name:filter:type:default:description``."""
    name, condition, type_, default, description = text.split(":")
    return Parameter(name, condition, type_, default, description)


def _column(text: str) -> Column:
    """``name:label:type``, and ``:total`` where sums are told."""
    name, label, type_, *total = text.split(":")
    return Column(name, label, type_, total == ["total"])
