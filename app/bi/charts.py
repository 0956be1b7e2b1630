"""Charts as Vega-Lite specifications: plain data that a browser or the service itself draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.localisation.numbers import ENGLISH, Signs

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MOST_BARS = 24
MOST_POINTS = 500
REMARK_COLOUR = "#555555"
COLOURS = ["#2f6f9f", "#e08a2e", "#4f9d69", "#b5485d", "#7a6bb0", "#8a8d91"]


@dataclass(frozen=True)
class Chart:
    """``type`` is bar, line or arc; ``x`` and ``y`` are columns; ``series`` splits by colour."""

    type: str
    x: str
    y: str
    series: str | None = None
    x_label: str = ""
    y_label: str = ""


def vega_lite(
    chart: Chart,
    rows: Sequence[Mapping[str, Any]],
    title: str = "",
    remark: str = "",
    signs: Signs = ENGLISH,
) -> dict[str, Any]:
    """The specification with its data inside; ``remark`` stands under the title, and numbers are
    written with ``signs``."""
    values = [_value(chart, row) for row in rows[:MOST_POINTS]]
    spec: dict[str, Any] = {
        "$schema": SCHEMA,
        "width": 640,
        "height": 360,
        "background": "white",
        "data": {"values": values},
        "mark": _mark(chart),
        "encoding": _encoding(chart, values),
        "config": {"font": "DejaVu Sans, Arial, sans-serif", "view": {"stroke": None},
                   "range": {"category": COLOURS}, "axis": {"gridColor": "#e6e8eb"}},
    }  # fmt: skip
    if signs != ENGLISH:
        spec["config"]["locale"] = {
            "number": {"decimal": signs.decimal, "thousands": signs.group, "grouping": [3],
                       "currency": ["", ""]}
        }  # fmt: skip
    if title:
        spec["title"] = {"text": title, "anchor": "start", "fontSize": 16}
        if remark:
            spec["title"] |= {"subtitle": remark, "subtitleColor": REMARK_COLOUR}
    elif remark:  # a subtitle is drawn below a title only
        spec["title"] = {"text": remark, "anchor": "start", "fontSize": 11,
                         "fontWeight": "normal", "color": REMARK_COLOUR}  # fmt: skip
    return spec


def _mark(chart: Chart) -> dict[str, Any]:
    if chart.type == "arc":
        return {"type": "arc", "tooltip": True, "innerRadius": 60}
    if chart.type == "line":
        return {"type": "line", "point": True, "tooltip": True}
    return {"type": "bar", "tooltip": True, "cornerRadiusEnd": 2}


def _value(chart: Chart, row: Mapping[str, Any]) -> dict[str, Any]:
    point = {"x": _text(row.get(chart.x)), "y": _number(row.get(chart.y))}
    if chart.series:
        point["series"] = _text(row.get(chart.series))
    return point


def _encoding(chart: Chart, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    y = {"field": "y", "type": "quantitative", "title": chart.y_label or chart.y,
         "axis": {"format": ",~r"}}  # fmt: skip
    x: dict[str, Any] = {"field": "x", "type": "ordinal", "title": chart.x_label or chart.x,
                         "sort": None}  # fmt: skip
    if chart.type == "arc":
        colour = {"field": "x", "type": "nominal", "title": chart.x_label or chart.x, "sort": None}
        return {"theta": {"field": "y", "type": "quantitative", "stack": True}, "color": colour}
    if chart.type == "bar" and _wants_lying_bars([str(value["x"]) for value in values]):
        # Names of records are long, and end with what tells them apart.
        x, y = {**y, "title": y["title"]}, {**x, "axis": {"labelLimit": 300, "maxExtent": 320}}
    encoding: dict[str, Any] = {"x": x, "y": y}
    if chart.series:
        encoding["color"] = {"field": "series", "type": "nominal", "title": None, "sort": None}
        shared = len({(value["x"], value["series"]) for value in values}) > len(
            {value["x"] for value in values}
        )
        if not shared:
            return encoding
        if chart.type == "bar" and encoding["y"].get("type") == "quantitative":
            encoding["xOffset"] = {"field": "series", "sort": None}
        elif chart.type == "bar":
            encoding["yOffset"] = {"field": "series", "sort": None}
    return encoding


def _wants_lying_bars(names: Sequence[str]) -> bool:
    """Many long names are read beside bars; months and the like stand below them."""
    return len(set(names)) > 8 and max(map(len, names)) > 8


def _text(value: Any) -> str:
    return "(none)" if value is None else str(value)


def _number(value: Any) -> float | int | None:
    """Vega counts in doubles; the figures themselves stay exact in the rows."""
    if value is None or isinstance(value, int):
        return value
    return float(value) if isinstance(value, Decimal | float) else None
