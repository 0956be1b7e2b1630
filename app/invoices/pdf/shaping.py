"""Text to glyphs: fonts found letter by letter, directions resolved, each run shaped by HarfBuzz.

Lengths are in thousandths of the font size, so that one shaped text serves every size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import uharfbuzz  # type: ignore[import-untyped]
from bidi.mirror import MIRRORED  # type: ignore[import-untyped]

from app.invoices.pdf import bidi, fonts
from app.invoices.pdf.fonts import Face

_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_FOLLOWING = frozenset("\u200c\u200d\ufe0e\ufe0f")  # joiners and variation selectors
_FEATURES = {"liga": False, "clig": False}  # "fi" stays two letters for whoever copies the text
_CACHE_LIMIT = 5_000


@dataclass(frozen=True, slots=True)
class Run:
    """Glyphs of one face, from left to right; what is told of each stands at the same place.

    ``offsets`` (across, up) is None if all stand where they are expected. ``texts`` says what a
    glyph stands for, "" if a neighbour of the same cluster says it: a dot of a letter, a mark.
    """

    face: Face
    glyphs: tuple[int, ...]
    advances: tuple[float, ...]
    offsets: tuple[tuple[float, float], ...] | None
    texts: tuple[str, ...]
    clusters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shaped:
    """A line of text, ready to draw at any size."""

    runs: tuple[Run, ...]
    width: float

    def width_at(self, size: float) -> float:
        """The width in points."""
        return self.width * size / 1000


class Shaper:
    """Shapes texts; one that came before is not shaped again, of another document either."""

    def __init__(self, han: int = fonts.SIMPLIFIED) -> None:
        self._han = han
        self._shaped: dict[tuple[str, int], Shaped] = {}
        self._faces: dict[tuple[str, int, int], Face | None] = {}
        self._plain: set[str] = set()  # letters that the first face has and nothing precedes

    def shape(self, text: str, weight: int = fonts.REGULAR) -> Shaped:
        """One line of text; line ends in it count as spaces."""
        key = (text, weight)
        shaped = self._shaped.get(key)
        if shaped is None:
            if len(self._shaped) >= _CACHE_LIMIT:
                self._shaped.clear()
            shaped = self._shaped[key] = self._shape(text.replace("\n", " "), weight)
        return shaped

    def width(self, text: str, size: float, weight: int = fonts.REGULAR) -> float:
        """The width of a text in points."""
        return self.shape(text, weight).width_at(size)

    def _shape(self, text: str, weight: int) -> Shaped:
        has_rtl = bidi.has_right_to_left(text)
        levels = bidi.levels(text) if has_rtl else [0] * len(text)
        pieces = [
            (level, _shape_run(face, part, level % 2 == 1))
            for face, part, level in self._spans(text, weight, levels)
        ]
        runs = bidi.in_visual_order(pieces) if has_rtl else [run for _, run in pieces]
        width = sum(sum(run.advances) for run in runs)
        return Shaped(tuple(runs), width)

    def _spans(self, text: str, weight: int, levels: list[int]) -> Iterator[tuple[Face, str, int]]:
        """The text in parts of one face and one level."""
        if text and self._plain.issuperset(text):
            yield next(fonts.faces(weight, self._han)), text, 0
            return
        han = self._han_of(text)
        current: Face | None = None
        part: list[str] = []
        level = 0
        for letter, next_level in zip(text, levels, strict=True):
            face, drawn = self._face_for(letter, weight, han, current)
            if part and current is not None and (face is not current or next_level != level):
                yield current, "".join(part), level
                part = []
            current, level = face, next_level
            part.append(drawn)
        if part and current is not None:
            yield current, "".join(part), level
        self._remember_plain(text, weight, han)

    def _remember_plain(self, text: str, weight: int, han: int) -> None:
        first = next(fonts.faces(weight, han))
        self._plain.update(
            letter
            for letter in text
            if self._faces.get((letter, weight, han)) is first
            and not bidi.has_right_to_left(letter)
        )

    def _face_for(
        self, letter: str, weight: int, han: int, current: Face | None
    ) -> tuple[Face, str]:
        """The face for a letter, and the letter or what stands for it."""
        if current is not None and (
            letter in _FOLLOWING
            or (unicodedata.category(letter)[0] == "M" and current.covers(letter))
        ):
            return current, letter
        key = (letter, weight, han)
        if key not in self._faces:
            covering = (face for face in fonts.faces(weight, han) if face.covers(letter))
            self._faces[key] = next(covering, None)
        known_face = self._faces[key]
        if known_face is not None:
            return known_face, letter
        return next(fonts.faces(weight, han)), fonts.SUBSTITUTE

    def _han_of(self, text: str) -> int:
        """Kana are Japanese and Hangul is Korean, whatever the document is."""
        if text.isascii():
            return self._han
        if _KANA.search(text):
            return fonts.JAPANESE
        return fonts.KOREAN if _HANGUL.search(text) else self._han


def _shape_run(face: Face, text: str, right_to_left: bool) -> Run:
    buffer = uharfbuzz.Buffer()
    buffer.cluster_level = uharfbuzz.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.add_str(text)
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if right_to_left else "ltr"
    uharfbuzz.shape(face.hb_font, buffer, _FEATURES)
    infos, positions = buffer.glyph_infos, buffer.glyph_positions or ()
    scale = face.scale
    glyphs = tuple([info.codepoint for info in infos])
    advances = tuple([position.x_advance * scale for position in positions])
    moves = tuple([(position.x_offset, position.y_offset) for position in positions])
    offsets = None
    if any(move != (0, 0) for move in moves):
        offsets = tuple((across * scale, up * scale) for across, up in moves)
    clusters = [info.cluster for info in infos]
    if not right_to_left:
        clusters = _with_marks(clusters, advances)
        texts = tuple(_texts_of(clusters, advances, text))
        return Run(face, glyphs, advances, offsets, texts, tuple(clusters))
    texts = tuple(_texts_of(clusters, advances, _as_seen(text)))
    return _marks_apart(Run(face, glyphs, advances, offsets, texts, tuple(clusters)))


def _with_marks(clusters: Sequence[int], advances: Sequence[float]) -> list[int]:
    """The clusters, a glyph without a width in that of the one before it."""
    if all(advances):
        return list(clusters)
    joined: list[int] = []
    for cluster, advance in zip(clusters, advances, strict=True):
        joined.append(joined[-1] if joined and not advance else cluster)
    return joined


def _marks_apart(run: Run) -> Run:
    """A run from right to left whose marks stand for nothing, and blanks beside them for the marks.

    Readers turn a line letter by letter: the mark of a letter has to be one of its own, and on the
    base line, or it is taken for another line.
    """
    blank = run.face.blank
    marks = [
        bool(text) and not advance and glyph != blank
        for glyph, advance, text in zip(run.glyphs, run.advances, run.texts, strict=True)
    ]
    if not any(marks) or blank is None:
        return run
    offsets = run.offsets or ((0.0, 0.0),) * len(run.glyphs)
    rows = []
    for is_mark, (glyph, advance, offset, text, cluster) in zip(
        marks,
        zip(run.glyphs, run.advances, offsets, run.texts, run.clusters, strict=True),
        strict=True,
    ):
        rows.append((glyph, advance, offset, "" if is_mark else text, cluster))
        if is_mark:
            rows.append((blank, 0.0, (0.0, 0.0), text, cluster))
    glyphs, advances, moves, texts, clusters = zip(*rows, strict=True)
    return Run(run.face, glyphs, advances, moves, texts, clusters)


def _as_seen(text: str) -> str:
    """Brackets as they look from right to left: readers of a file turn both lines and brackets."""
    return "".join(MIRRORED.get(letter, letter) for letter in text)


def _texts_of(clusters: Sequence[int], advances: Sequence[float], text: str) -> list[str]:
    """What each glyph stands for: the widest glyph of a cluster says all of the cluster's text."""
    if list(clusters) == list(range(len(text))):
        return list(text)
    starts = sorted(set(clusters))
    ends = dict(zip(starts, [*starts, len(text)][1:], strict=True))
    widest: dict[int, int] = {}
    for index, cluster in enumerate(clusters):
        if cluster not in widest or advances[index] > advances[widest[cluster]]:
            widest[cluster] = index
    texts = [""] * len(clusters)
    for cluster, index in widest.items():
        texts[index] = text[cluster : ends[cluster]]
    return texts
