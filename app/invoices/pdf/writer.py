"""Pages of marks to a file: fonts cut down to what is used, marks written as PDF operators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import cos, radians, sin
from typing import Any

from reportlab.pdfbase.pdfdoc import (  # type: ignore[import-untyped]
    PDFArray,
    PDFDictionary,
    PDFName,
)

from app.invoices.pdf.archive import Archive, Attachment, Metadata, archive_stream
from app.invoices.pdf.drawing import Color, Frame, Modules, Page, Picture, Rule, Text
from app.invoices.pdf.embedding import EmbeddedFont, Shown
from app.invoices.pdf.fonts import Face
from app.invoices.pdf.shaping import Run


def write_pdf(
    pages: Iterable[Page], metadata: Metadata, attachments: Sequence[Attachment] = ()
) -> bytes:
    """The bytes of a PDF/A-3b file; the same input gives the same bytes.

    ``pages`` are gone through twice, and may be laid out anew each time.
    """
    archive = Archive(metadata, attachments)
    glyphs: dict[Face, dict[Shown, None]] = {}
    pictures: dict[bytes, tuple[str, Any]] = {}
    for page in pages:
        _note_glyphs(page, glyphs)
        _add_pictures(archive, page, pictures)
    fonts = {
        face: EmbeddedFont(face, known, f"F{number}")
        for number, (face, known) in enumerate(glyphs.items(), start=1)
    }
    resources = archive.add(
        PDFDictionary(
            {
                "Font": PDFDictionary(
                    {font.resource: font.add_to(archive) for font in fonts.values()}
                ),
                "XObject": PDFDictionary(dict(pictures.values())),
                "ProcSet": PDFArray([PDFName("PDF"), PDFName("Text"), PDFName("ImageC")]),
            }
        )
    )
    writer = ContentWriter(fonts, lambda picture: pictures[_key(picture)][0])
    for page in pages:
        archive.add_page(writer.page(page), resources, page.width, page.height)
    return archive.to_bytes()


def _note_glyphs(page: Page, glyphs: dict[Face, dict[Shown, None]]) -> None:
    """The faces that a page uses, in the order of first use, and what their glyphs stand for."""
    for mark in page.marks:
        if not isinstance(mark, Text):
            continue
        for run in mark.shaped.runs:
            glyphs_of_face = glyphs.setdefault(run.face, {})
            for glyph, advance, text in zip(run.glyphs, run.advances, run.texts, strict=True):
                if text or advance:
                    glyphs_of_face[glyph, text] = None


def _add_pictures(archive: Archive, page: Page, pictures: dict[bytes, tuple[str, Any]]) -> None:
    """Resource name and reference of each picture; one that is shown twice is stored once."""
    for mark in page.marks:
        if isinstance(mark, Picture) and _key(mark) not in pictures:
            entries = {
                "Type": PDFName("XObject"), "Subtype": PDFName("Image"),
                "Width": mark.columns, "Height": mark.rows, "BitsPerComponent": 8,
                "ColorSpace": PDFName("DeviceRGB"),
            }  # fmt: skip
            reference = archive.add(archive_stream(mark.pixels, entries))
            pictures[_key(mark)] = (f"Im{len(pictures) + 1}", reference)


def _key(picture: Picture) -> bytes:
    return hashlib.sha256(picture.pixels).digest()


Point = tuple[float, float]
NameOf = Callable[[Picture], str]

_KEPT = 10_000  # encoded texts that are remembered
_STEP = 0.01  # thousandths of the font size that nobody sees


class ContentWriter:
    """Writes the pages of one document; a text that stands on many of them is encoded once."""

    def __init__(self, fonts: Mapping[Face, EmbeddedFont], name_of: NameOf) -> None:
        self._fonts = fonts
        self._name_of = name_of
        # By the identity of a run; the run stands beside it, so that no other takes its identity.
        self._shown: dict[int, tuple[Run, str]] = {}

    def page(self, page: Page) -> bytes:
        """The content stream of a page."""
        operators: list[str] = []
        for mark in page.marks:
            if isinstance(mark, Text):
                operators.extend(self._text(mark, page.height))
            elif isinstance(mark, Rule):
                operators.append(_rule(mark, page.height))
            elif isinstance(mark, Frame):
                operators.append(_frame(mark, page.height))
            elif isinstance(mark, Modules):
                operators.extend(_modules(mark, page.height))
            else:
                operators.append(_picture(mark, self._name_of(mark), page.height))
        return "\n".join(operators).encode("ascii")

    def _text(self, mark: Text, page_height: float) -> Iterator[str]:
        if not mark.shaped.runs:
            return
        position = _numbers(mark.x, page_height - mark.y)
        yield f"BT {_color(mark.color)} rg"
        if mark.angle:
            turn = radians(mark.angle)
            yield f"{_numbers(cos(turn), sin(turn), -sin(turn), cos(turn))} {position} Tm"
        else:
            yield f"{position} Td"
        for run in mark.shaped.runs:
            font = self._fonts[run.face]
            yield f"/{font.resource} {number(mark.size)} Tf"
            yield self._run(run, font, mark.size)
        yield "ET"
        shapes = list(_shapes(mark.shaped.runs))
        if shapes:
            turn = radians(mark.angle)
            across, up = mark.size * cos(turn), mark.size * sin(turn)
            yield f"q {_numbers(across, up, -up, across)} {position} cm .001 0 0 .001 0 0 cm"
            yield from shapes
            yield "f Q"

    def _run(self, run: Run, font: EmbeddedFont, size: float) -> str:
        if run.offsets is not None:
            return "\n".join(_show(run, font, size))
        shown_run = self._shown.get(id(run))
        if shown_run is None:
            if len(self._shown) >= _KEPT:
                self._shown.clear()
            shown_run = self._shown[id(run)] = run, "\n".join(_show(run, font, size))
        return shown_run[1]


def number(value: float) -> str:
    """At most three decimals, a thousandth of a point; never an exponent."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _numbers(*values: float) -> str:
    return " ".join(map(number, values))


def _show(run: Run, font: EmbeddedFont, size: float) -> Iterator[str]:
    """Glyphs with their positions: TJ numbers move left, in thousandths of the size; Ts rises.

    Where the codes of a cluster do not say its text, ``ActualText`` does (ISO 32000-1, 14.9.4).
    """
    offsets = run.offsets or ((0.0, 0.0),) * len(run.glyphs)
    cluster_texts = _cluster_texts(run, font)
    parts: list[str] = []
    codes: list[str] = []
    owed = 0.0  # how far left of its place the pen is
    rise = 0.0
    within: int | None = None  # the cluster whose text ActualText tells

    def written_so_far() -> Iterator[str]:
        if codes:
            parts.append(f"<{''.join(codes)}>")
            codes.clear()
        if parts:
            yield f"[{''.join(parts)}] TJ"
            parts.clear()

    for glyph, advance, (across, up), text, cluster in zip(
        run.glyphs, run.advances, offsets, run.texts, run.clusters, strict=True
    ):
        if not text and not advance:  # drawn as a shape
            continue
        if within is not None and cluster != within:
            yield from written_so_far()
            yield "EMC"
            within = None
        if within is None and cluster in cluster_texts:
            yield from written_so_far()
            spelled = cluster_texts[cluster].encode("utf-16-be").hex().upper()
            yield f"/Span <</ActualText <FEFF{spelled}>>> BDC"
            within = cluster
        shift = owed + across
        if up != rise:
            yield from written_so_far()
            rise = up
            yield f"{number(rise * size / 1000)} Ts"
        if abs(shift) >= _STEP:
            if codes:
                parts.append(f"<{''.join(codes)}>")
                codes.clear()
            parts.append(number(-shift))
        codes.append(font.code_of(glyph, text))
        owed = advance - across - font.width_of(glyph)
        if abs(shift) < _STEP:
            owed += shift
    if codes:
        parts.append(f"<{''.join(codes)}>")
        codes.clear()
    if abs(owed) >= _STEP:
        parts.append(number(-owed))
    yield from written_so_far()
    if within is not None:
        yield "EMC"
    if rise:
        yield "0 Ts"


def _cluster_texts(run: Run, font: EmbeddedFont) -> dict[int, str]:
    """Cluster -> its text, of those that several glyphs with a width, or no code, stand for."""
    wide: dict[int, int] = {}
    texts: dict[int, str] = {}
    unclear = set()
    for glyph, advance, text, cluster in zip(
        run.glyphs, run.advances, run.texts, run.clusters, strict=True
    ):
        wide[cluster] = wide.get(cluster, 0) + bool(advance)
        if text:
            texts[cluster] = text
            if not font.spells(glyph, text):
                unclear.add(cluster)
    return {
        cluster: text for cluster, text in texts.items() if wide[cluster] > 1 or cluster in unclear
    }


def _shapes(runs: Iterable[Run]) -> Iterator[str]:
    """The outlines of glyphs that stand for no text of their own, in thousandths of the size.

    As text they would be copied with the letters, and the letters would not be found.
    """
    pen = 0.0
    for run in runs:
        offsets = run.offsets or ((0.0, 0.0),) * len(run.glyphs)
        for glyph, advance, (across, up), text in zip(
            run.glyphs, run.advances, offsets, run.texts, strict=True
        ):
            if not text and not advance:
                yield from outline(run.face, glyph, pen + across, up)
            pen += advance


def _color(color: Color) -> str:
    return _numbers(*color)


def _rule(mark: Rule, page_height: float) -> str:
    ends = _numbers(mark.x1, page_height - mark.y1)
    other = _numbers(mark.x2, page_height - mark.y2)
    return f"{number(mark.width)} w {_color(mark.color)} RG {ends} m {other} l S"


def _frame(mark: Frame, page_height: float) -> str:
    turn = radians(mark.angle)
    across, up = cos(turn), sin(turn)
    bottom = page_height - mark.y - mark.height
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


def _modules(mark: Modules, page_height: float) -> Iterator[str]:
    """Dark runs of each row as one rectangle, so that no hairlines show between squares."""
    step = mark.size / len(mark.matrix)
    yield "0 0 0 rg"
    for row, modules in enumerate(mark.matrix):
        bottom = page_height - mark.y - (row + 1) * step
        start = 0
        while (start := modules.find(1, start)) >= 0:
            end = modules.find(0, start)
            end = len(modules) if end < 0 else end
            yield f"{_numbers(mark.x + start * step, bottom, (end - start) * step, step)} re"
            start = end
    yield "f"


def _picture(mark: Picture, name: str, page_height: float) -> str:
    matrix = _numbers(mark.width, 0, 0, mark.height, mark.x, page_height - mark.y - mark.height)
    return f"q {matrix} cm /{name} Do Q"


def outline(face: Face, glyph: int, across: float, up: float) -> Sequence[str]:
    """The path of a glyph whose origin is moved; lengths in thousandths of the font size."""
    pen = _PathPen(face.scale, across, up)
    face.hb_font.draw_glyph_with_pen(glyph, pen)
    return pen.operators


class _PathPen:
    """A pen as ``uharfbuzz`` wants it, named by its protocol."""

    def __init__(self, scale: float, across: float, up: float) -> None:
        self.operators: list[str] = []
        self._scale = scale
        self._shift = across, up
        self._last: Point = (0.0, 0.0)

    def moveTo(self, point: Point) -> None:
        """Begin a contour."""
        self._add("m", point)

    def lineTo(self, point: Point) -> None:
        """A straight line."""
        self._add("l", point)

    def curveTo(self, first: Point, second: Point, end: Point) -> None:
        """A cubic curve."""
        self._add("c", first, second, end)

    def qCurveTo(self, control: Point, end: Point) -> None:
        """A quadratic curve, as the cubic one that it is."""
        start = self._last
        self._add("c", _between(start, control), _between(end, control), end)

    def closePath(self) -> None:
        """End a contour."""
        self.operators.append("h")

    def _add(self, operator: str, *points: Point) -> None:
        across, up = self._shift
        numbers = (f"{x * self._scale + across:.1f} {y * self._scale + up:.1f}" for x, y in points)
        self.operators.append(f"{' '.join(numbers)} {operator}")
        self._last = points[-1]


def _between(end: Point, control: Point) -> Point:
    """Two thirds of the way from an end of a quadratic curve to its control."""
    return end[0] + (control[0] - end[0]) * 2 / 3, end[1] + (control[1] - end[1]) * 2 / 3
