"""The seller's logo: decoded within limits, flattened on white, never larger than it prints."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image

FORMATS = ("PNG", "JPEG")
MAX_BYTES = 5_000_000
# Decoded with transparency, this many take 64 MB.
_MAX_PIXELS = 16_000_000
_MOST_COLUMNS, _MOST_ROWS = 900, 300  # 300 dots an inch at the size it prints


@dataclass(frozen=True, slots=True)
class Logo:
    """RGB, 8 bits a channel, row by row."""

    pixels: bytes
    columns: int
    rows: int


@lru_cache(maxsize=2)
def read_logo(content: bytes | None) -> Logo | None:
    """The picture, or None if there is none that can be read: no invoice fails for its logo."""
    if not content or len(content) > MAX_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                if opened.width * opened.height > _MAX_PIXELS:
                    return None
                opened.draft("RGB", (_MOST_COLUMNS, _MOST_ROWS))
                return _flatten(opened)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError,
            Image.DecompressionBombWarning):  # fmt: skip
        return None


def _flatten(opened: Image.Image) -> Logo:
    picture = opened.convert("RGBA")
    picture.thumbnail((_MOST_COLUMNS, _MOST_ROWS))
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture.getchannel("A"))
    return Logo(paper.tobytes(), paper.width, paper.height)
