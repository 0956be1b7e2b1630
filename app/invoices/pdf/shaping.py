"""Text to glyphs: fonts found letter by letter, directions resolved, each run shaped by HarfBuzz.

Lengths are in thousandths of the font size, so that one shaped text serves every size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import uharfbuzz  # type: ignore[import-untyped]
from bidi import algorithm  # type: ignore[import-untyped]
from bidi.mirror import MIRRORED  # type: ignore[import-untyped]

from app.invoices.pdf import fonts
from app.invoices.pdf.fonts import Face

Item = TypeVar("Item")

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
# Rule X9 takes these out before levels are resolved; isolates never come here.
_IGNORED = frozenset(("BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
_NEUTRAL = "\ufffd"
_STRONG = {"L": "L", "R": "R", "AL": "R", "EN": "R", "AN": "R"}
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def has_right_to_left(text: str) -> bool:
    """Whether any letter may run from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def levels(text: str) -> list[int]:
    """The embedding level of each character of one line: odd runs from right to left.

    The line begins on the side of its first strong letter (P2, P3); white space at its end
    follows the line (L1).
    """
    classes = [unicodedata.bidirectional(letter) for letter in text]
    letters = "".join(
        letter if kind else _NEUTRAL  # a letter that Unicode does not know
        for letter, kind in zip(text, classes, strict=True)
        if kind not in _IGNORED
    )
    base = int(algorithm.get_base_level(letters))
    storage: dict[str, Any] = algorithm.get_empty_storage()
    storage["base_level"] = base
    storage["base_dir"] = ("L", "R")[base]
    algorithm.get_embedding_levels(letters, storage)
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage, False)
    _resolve_brackets(storage["chars"], ("L", "R")[base])
    algorithm.resolve_neutral_types(storage, False)
    algorithm.resolve_implicit_levels(storage, False)
    resolved = iter([int(entry["level"]) for entry in storage["chars"]])
    levels: list[int] = []
    for kind in classes:
        ignored = kind in _IGNORED
        levels.append((levels[-1] if levels else base) if ignored else next(resolved))
    for index in range(len(text) - 1, -1, -1):
        if not text[index].isspace():
            break
        levels[index] = base
    return levels


def _resolve_brackets(entries: Sequence[dict[str, Any]], side: str) -> None:
    """Rule N0: a pair of brackets goes with what it holds, or with what stands before it."""
    for start, end in _bracket_pairs(entries):
        sides = {_STRONG[entry["type"]] for entry in entries[start + 1 : end]
                if entry["type"] in _STRONG}  # fmt: skip
        if not sides:
            continue
        direction = side
        if side not in sides:
            before = (_STRONG.get(entry["type"]) for entry in reversed(entries[:start]))
            direction = next(
                (direction_before for direction_before in before if direction_before), side
            )
        entries[start]["type"] = entries[end]["type"] = direction


def _bracket_pairs(entries: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """The places of brackets that belong together, outer pairs first."""
    opened: list[tuple[str, int]] = []
    pairs = []
    for index, entry in enumerate(entries):
        letter = entry["ch"]
        if letter in _BRACKETS:
            opened.append((_BRACKETS[letter], index))
        elif any(closing == letter for closing, _ in opened):
            while opened[-1][0] != letter:
                opened.pop()
            pairs.append((opened.pop()[1], index))
    return sorted(pairs)


def in_visual_order(runs: Sequence[tuple[int, Item]]) -> list[Item]:
    """Runs of (level, item) as they stand from left to right (rule L2)."""
    ordered = list(runs)
    deepest = max((level for level, _ in ordered), default=0)
    for depth in range(deepest, 0, -1):
        start = 0
        while start < len(ordered):
            if ordered[start][0] < depth:
                start += 1
                continue
            end = start
            while end < len(ordered) and ordered[end][0] >= depth:
                end += 1
            ordered[start:end] = ordered[start:end][::-1]
            start = end
    return [item for _, item in ordered]


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
        has_rtl = has_right_to_left(text)
        directions = levels(text) if has_rtl else [0] * len(text)
        pieces = [
            (level, _shape_run(face, part, level % 2 == 1))
            for face, part, level in self._spans(text, weight, directions)
        ]
        runs = in_visual_order(pieces) if has_rtl else [run for _, run in pieces]
        width = sum(sum(run.advances) for run in runs)
        return Shaped(tuple(runs), width)

    def _spans(
        self, text: str, weight: int, directions: list[int]
    ) -> Iterator[tuple[Face, str, int]]:
        """The text in parts of one face and one level."""
        if text and self._plain.issuperset(text):
            yield next(fonts.faces(weight, self._han)), text, 0
            return
        han = self._han_of(text)
        current: Face | None = None
        part: list[str] = []
        level = 0
        for letter, next_level in zip(text, directions, strict=True):
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
            if self._faces.get((letter, weight, han)) is first and not has_right_to_left(letter)
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
