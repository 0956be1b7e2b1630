"""Text of strangers made safe to print or to write into XML: text stays text, nothing else."""

from __future__ import annotations

import re
import unicodedata

_FIRST_MARK = "\u0300"
MAX_MARKS = 4  # combining marks on one letter; more would run over the lines above and below

# Embeddings, overrides and isolates reorder what stands beside them: "001" may be shown as "100".
_INVISIBLE = "\u00ad\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_REMOVED = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef{_INVISIBLE}]"
    r"|[\ufffe\uffff]"
)
_NEW_LINE = re.compile("\r\n?|\x85|\u2028|\u2029|\x0b|\x0c")
_MANY_NEW_LINES = re.compile(r"\n[\n ]*\n")


def clean(text: str | None) -> str:
    """``text`` in NFC without control characters; ``\\n`` between its lines; stripped.

    The result holds only characters that XML 1.0 allows, and no more than one empty line in a row.
    """
    if not text:
        return ""
    if text.isascii() and text.isprintable():
        return text.strip()
    text = _REMOVED.sub("", _NEW_LINE.sub("\n", text)).replace("\t", " ")
    text = _MANY_NEW_LINES.sub("\n\n", text)
    return _thin_marks(unicodedata.normalize("NFC", text)).strip()


def one_line(text: str | None) -> str:
    """``text`` cleaned, its white space run together to single spaces."""
    return " ".join(clean(text).split())


def _thin_marks(text: str) -> str:
    """Drop combining marks past ``MAX_MARKS`` on one letter."""
    if max(text, default="") < _FIRST_MARK:
        return text
    lines = []
    run = 0
    for letter in text:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run <= MAX_MARKS:
            lines.append(letter)
    return "".join(lines)
