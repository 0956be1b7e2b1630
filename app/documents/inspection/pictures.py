"""A picture of the first page of a file, as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

# Longest edge, in pixels.
EDGE = 800
# A picture of more is a trap: 40 million pixels are a large photograph.
MAXIMUM_PIXELS = 40_000_000
_FORMATS = {
    "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP",
    "image/tiff": "TIFF", "image/bmp": "BMP",
}  # fmt: skip
PDF = "application/pdf"


def has_picture(media_type: str) -> bool:
    """Whether pictures are made of files of the type."""
    return media_type == PDF or media_type in _FORMATS


def draw_picture(path: Path, media_type: str, target: Path) -> None:
    """Write the picture into ``target``; nothing for other types.

    Raises: ValueError, it has too many pixels; whatever the readers raise.
    """
    if media_type == PDF:
        picture = _page(path)
    elif media_type in _FORMATS:
        picture = _photograph(path, _FORMATS[media_type])
    else:
        return
    picture.thumbnail((EDGE, EDGE))
    picture.convert("RGB").save(target, "PNG", optimize=True)


def _page(path: Path) -> Image:
    import pypdfium2  # type: ignore[import-untyped]  # loaded by the process that draws

    with pypdfium2.PdfDocument(path) as document:
        page = document[0]
        longest = max(page.get_width(), page.get_height(), 1.0)
        image: Image = page.render(scale=EDGE / longest).to_pil()
        return image


def _photograph(path: Path, kind: str) -> Image:
    from PIL import Image, ImageOps  # loaded by the process that draws

    # Only the reader of the type that the content was found to have; none is guessed.
    with Image.open(path, formats=[kind]) as image:
        if image.width * image.height > MAXIMUM_PIXELS:
            raise ValueError(f"{image.width} x {image.height} pixels")
        image.draft("RGB", (EDGE, EDGE))
        upright = ImageOps.exif_transpose(image)
        if upright.mode in ("RGBA", "LA", "P"):
            ground = Image.new("RGBA", upright.size, "white")
            return Image.alpha_composite(ground, upright.convert("RGBA"))
        return upright.convert("RGB")
