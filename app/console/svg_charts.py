"""Charts as the pages draw them: marks of an SVG that stretches, words beside it as text.

The words stay outside of the picture, so that they keep their size on a phone and are read aloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from markupsafe import Markup

from app.console.language import translated
from app.console.numbers import page_signs
from app.console.wording import grouped, value_words, words
from app.container.words import are_words
from app.localisation.numbers import grouped_number

# Colours of the style sheet; further series begin again.
COLOURS = 6
WIDTH, HEIGHT = 100, 40
Value = Mapping[str, Any]


# So many steps an axis of values has at most.
_MOST_STEPS = 5


@dataclass(frozen=True)
class Axis:
    """An axis of values: its ticks from the highest to the lowest, evenly apart, 0 among them."""

    ticks: Sequence[Decimal]

    def offset(self, value: Decimal) -> float:
        """How far below the top of the picture a value lies."""
        high, low = self.ticks[0], self.ticks[-1]
        return round(float((high - value) / (high - low)) * HEIGHT, 2)

    @property
    def labels(self) -> Sequence[str]:
        """The ticks as they are read, with as many decimals each."""
        least = max(0, *(-int(tick.normalize().as_tuple().exponent) for tick in self.ticks))
        return [grouped_number(tick, page_signs(), least) for tick in self.ticks]

    def grid(self, width: int) -> str:
        """A line through each tick, as wide as the picture."""
        return "".join(f"M0 {self.offset(tick):g}h{width}" for tick in self.ticks)


def axis_of(values: Iterable[Decimal]) -> Axis:
    """The axis on which values stand: its steps are 1, 2 or 5 of a power of ten."""
    heights = [Decimal(0), *values]
    low, high = min(heights), max(heights)
    if low == high:
        high = Decimal(1)
    least = (high - low) / _MOST_STEPS
    power = Decimal(1).scaleb(least.adjusted())
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= least)
    first, last = (int(each.to_integral_value()) for each in (high / step, low / step))
    first, last = first + (first * step < high), last - (last * step > low)
    return Axis([number * step for number in range(first, last - 1, -1)])


@dataclass(frozen=True)
class Bar:
    """A bar: its share of the longest one in percent, and its figure as it is read."""

    colour: int
    percent: int
    text: Markup | str
    note: str = ""


@dataclass(frozen=True)
class BarGroup:
    """The bars of one name, which leads to ``link`` below the console."""

    name: str
    bars: Sequence[Bar]
    link: str = ""


@dataclass(frozen=True)
class Line:
    """A series as points of the picture, ``x,y`` with blanks between."""

    name: str
    colour: int
    points: Sequence[tuple[float, float]]

    @property
    def path(self) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y in self.points)

    @property
    def dots(self) -> str:
        """A dot at each point: lines of no length with round ends stay round when stretched."""
        return " ".join(f"M{x:g} {y:g}h0" for x, y in self.points)


@dataclass(frozen=True)
class Picture:
    """A chart: either ``groups`` of bars, or ``lines`` with the names below and an axis."""

    label: str
    legend: Sequence[tuple[int, str]]
    groups: Sequence[BarGroup] = ()
    lines: Sequence[Line] = ()
    names: Sequence[str] = ()
    axis: Axis | None = None


def picture_of(chart: Mapping[str, Any] | None) -> Picture | None:
    """The picture of a chart of ``app.bi``; None without one, or without figures."""
    if chart is None:
        return None
    values = [
        {**value, "x": value_words(_property(chart["spec"]), value["x"])}
        for value in chart["spec"]["data"]["values"]
        if value["y"] is not None
    ]
    if not values:
        return None
    if are_words(str(value.get("series", "")) for value in values):
        values = [{**value, "series": words(value["series"])} for value in values]
    series = list(dict.fromkeys(str(value.get("series", "")) for value in values))
    legend = [(index % COLOURS, name) for index, name in enumerate(series)] if series[1:] else []
    draw = _lines if chart["type"] == "line" else _bars
    return draw(values, series, legend)


def _bars(
    values: Sequence[Value], series: Sequence[str], legend: Sequence[tuple[int, str]]
) -> Picture:
    numbers = [_number(value) for value in values]
    least = 2 if any(number % 1 for number in numbers) else 0
    groups: dict[str, list[Bar]] = {}
    for value in values:
        number, name = _number(value), str(value.get("series", ""))
        text = grouped_number(round(number, least), page_signs(), least)
        colour = series.index(name) % COLOURS
        bar = Bar(colour, share(number, numbers), text, name if legend else "")
        groups.setdefault(str(value["x"]), []).append(bar)
    label = translated(
        "%(number)s bars, the longest %(longest)s",
        number=len(groups),
        longest=_text(max(map(abs, numbers))),
    )
    return Picture(label, legend, groups=[BarGroup(name, bars) for name, bars in groups.items()])


def share(value: Decimal, of: Sequence[Decimal]) -> int:
    """How long a bar is, in percent of the longest."""
    return max(0, int(value * 100 / (max(map(abs, of)) or 1)))


def _lines(
    values: Sequence[Value], series: Sequence[str], legend: Sequence[tuple[int, str]]
) -> Picture:
    names = sorted(dict.fromkeys(str(value["x"]) for value in values))
    numbers = [_number(value) for value in values]
    axis = axis_of(numbers)
    step = WIDTH / max(len(names) - 1, 1)
    lines = []
    for index, name in enumerate(series):
        points = sorted(
            (round(names.index(str(value["x"])) * step, 2), axis.offset(_number(value)))
            for value in values
            if str(value.get("series", "")) == name
        )
        lines.append(Line(name, index % COLOURS, points))
    label = translated(
        "A line from %(first)s to %(last)s, between %(least)s and %(most)s",
        first=names[0],
        last=names[-1],
        least=_text(min(numbers)),
        most=_text(max(numbers)),
    )
    return Picture(label, legend, lines=lines, names=_some(names), axis=axis)


def _property(spec: Mapping[str, Any]) -> str:
    """What the names are values of: ``stage``."""
    titles = [
        each["title"] for each in spec.get("encoding", {}).values() if each.get("field") == "x"
    ]
    title = str(titles[0] or "") if titles else ""
    return title[:1].lower() + title[1:]


def _some(names: Sequence[str]) -> list[str]:
    """The first, the middle and the last: more do not fit below a picture."""
    if len(names) < 3:
        return list(names)
    return [names[0], names[len(names) // 2], names[-1]]


def _number(value: Value) -> Decimal:
    return Decimal(str(value["y"]))


def _text(number: Decimal) -> str:
    return grouped(round(number, 2) if number % 1 else number.quantize(Decimal(1)))
