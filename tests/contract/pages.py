"""The examples of a page of documentation: requests, and what their answers are said to show."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.architecture.modules import ROOT

_BLOCK = re.compile(r"^```(\w+)(?: (\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A request with the status that its answer has, and the part of the body that is shown."""

    method: str
    url: str
    headers: dict[str, str]
    body: str
    status: int
    shown: Any

    def __str__(self) -> str:
        return f"{self.method} {self.url} -> {self.status}"


def examples(page: str) -> list[Example]:
    """The examples of ``docs/<page>``, in their order."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = [match.groups() for match in _BLOCK.finditer(text)]
    found = []
    for index, (kind, status, content) in enumerate(blocks):
        if kind != "http":
            continue
        following = blocks[index + 1] if index + 1 < len(blocks) else ("", None, "")
        head, _, body = content.partition("\n\n")
        request, *header_lines = head.strip().splitlines()
        method, _, url = request.partition(" ")
        headers = dict(line.split(": ", 1) for line in header_lines)
        shown = {"json": json.loads, "text": str.strip}.get(following[0], _nothing)(following[2])
        found.append(Example(method, url, headers, body, int(status), shown))
    return found


def _nothing(text: str) -> None:
    return None


def is_part(shown: Any, whole: Any) -> bool:
    """Whether everything shown is in the whole; a list shows its first members."""
    if isinstance(shown, dict):
        return isinstance(whole, dict) and all(
            name in whole and is_part(value, whole[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        return (
            isinstance(whole, list)
            and len(shown) <= len(whole)
            and all(is_part(item, other) for item, other in zip(shown, whole, strict=False))
        )
    return bool(shown == whole)
