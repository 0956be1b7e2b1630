"""Text that runs from right to left among text that runs from left to right (Unicode UAX 9)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeVar

from bidi import algorithm  # type: ignore[import-untyped]

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
