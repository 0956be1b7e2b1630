"""The content stream of a page: marks as PDF operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import cos, radians, sin

from app.invoices.pdf.drawing import (
    PAGE_HEIGHT,
    Color,
    Frame,
    Mark,
    Modules,
    Picture,
    Rule,
    Text,
)
from app.invoices.pdf.embedding import EmbeddedFont
from app.invoices.pdf.fonts import Face
from app.invoices.pdf.shaping import Run

FontOf = Callable[[Face], EmbeddedFont]
NameOf = Callable[[Picture], str]

_STEP = 0.01  # thousandths of the font size that nobody sees


def page_content(marks: Iterable[Mark], font_of: FontOf, name_of: NameOf) -> bytes:
    """All marks of a page; ``name_of`` gives the resource name of a picture."""
    operators: list[str] = []
    for mark in marks:
        if isinstance(mark, Text):
            operators.extend(_text(mark, font_of))
        elif isinstance(mark, Rule):
            operators.append(_rule(mark))
        elif isinstance(mark, Frame):
            operators.append(_frame(mark))
        elif isinstance(mark, Modules):
            operators.extend(_modules(mark))
        else:
            operators.append(_picture(mark, name_of(mark)))
    return "\n".join(operators).encode("ascii")


def number(value: float) -> str:
    """At most three decimals, a thousandth of a point; never an exponent."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _numbers(*values: float) -> str:
    return " ".join(map(number, values))


def _text(mark: Text, font_of: FontOf) -> Iterator[str]:
    if not mark.shaped.runs:
        return
    yield f"BT {_color(mark.color)} rg"
    turn = radians(mark.angle)
    across, up = cos(turn), sin(turn)
    yield f"{_numbers(across, up, -up, across, mark.x, PAGE_HEIGHT - mark.y)} Tm"
    for run in mark.shaped.runs:
        font = font_of(run.face)
        yield f"/{font.resource} {number(mark.size)} Tf"
        yield from _run(run, font, mark.size)
    yield "ET"


def _run(run: Run, font: EmbeddedFont, size: float) -> Iterator[str]:
    """Glyphs with their positions: TJ numbers move left, in thousandths of the size; Ts rises."""
    parts: list[str] = []
    codes: list[str] = []
    owed = 0.0  # how far left of its place the pen is
    rise = 0.0
    for glyph in run.glyphs:
        shift = owed + glyph.x_offset
        raised = glyph.y_offset != rise
        if codes and (raised or abs(shift) >= _STEP):
            parts.append(f"<{''.join(codes)}>")
            codes = []
        if raised:
            if parts:
                yield f"[{''.join(parts)}] TJ"
                parts = []
            rise = glyph.y_offset
            yield f"{number(rise * size / 1000)} Ts"
        if abs(shift) >= _STEP:
            parts.append(number(-shift))
        codes.append(font.code_of(glyph.id))
        owed = glyph.advance - glyph.x_offset - font.width_of(glyph.id)
    parts.append(f"<{''.join(codes)}>")
    if abs(owed) >= _STEP:
        parts.append(number(-owed))
    yield f"[{''.join(parts)}] TJ"
    if rise:
        yield "0 Ts"


def _color(color: Color) -> str:
    return _numbers(*color)


def _rule(mark: Rule) -> str:
    ends = _numbers(mark.x1, PAGE_HEIGHT - mark.y1)
    other = _numbers(mark.x2, PAGE_HEIGHT - mark.y2)
    return f"{number(mark.width)} w {_color(mark.color)} RG {ends} m {other} l S"


def _frame(mark: Frame) -> str:
    turn = radians(mark.angle)
    across, up = cos(turn), sin(turn)
    bottom = PAGE_HEIGHT - mark.y - mark.height
    parts = [f"q {_numbers(across, up, -up, across, mark.x, bottom)} cm"]
    if mark.fill is not None:
        parts.append(f"{_color(mark.fill)} rg")
    if mark.stroke is not None:
        parts.append(f"{number(mark.line_width)} w {_color(mark.stroke)} RG")
    paint = {(True, False): "f", (False, True): "S", (True, True): "B"}[
        mark.fill is not None, mark.stroke is not None
    ]
    parts.append(f"0 0 {_numbers(mark.width, mark.height)} re {paint} Q")
    return " ".join(parts)


def _modules(mark: Modules) -> Iterator[str]:
    """Dark runs of each row as one rectangle, so that no hairlines show between squares."""
    step = mark.size / len(mark.matrix)
    yield "0 0 0 rg"
    for row, modules in enumerate(mark.matrix):
        bottom = PAGE_HEIGHT - mark.y - (row + 1) * step
        start = 0
        while (start := modules.find(1, start)) >= 0:
            end = modules.find(0, start)
            end = len(modules) if end < 0 else end
            yield f"{_numbers(mark.x + start * step, bottom, (end - start) * step, step)} re"
            start = end
    yield "f"


def _picture(mark: Picture, name: str) -> str:
    place = _numbers(mark.width, 0, 0, mark.height, mark.x, PAGE_HEIGHT - mark.y - mark.height)
    return f"q {place} cm /{name} Do Q"
