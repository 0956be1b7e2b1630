"""The logo of the seller: taken once, decoded within limits, kept as a small picture of our own."""

from __future__ import annotations

import hashlib
import io
from functools import lru_cache

from app.blobs import blobs
from app.errors import (
    NotFoundError,
    ServiceUnavailableError,
    TooLargeError,
    UnsupportedMediaTypeError,
    ValidationError,
)
from app.http.security import current_caller
from app.permissions import require
from app.settings import Organisation, organisation
from app.settings.changes import write_row
from app.settings.groups import LOGO

MAX_BYTES = 5_000_000
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
CONTENT_TYPE = "image/png"


def save_logo(content: bytes) -> None:
    """Make a PNG or JPEG picture the logo of documents that are issued from now on.

    It is kept as a PNG on white, no larger than it prints: nothing of the upload is handed on.

    Raises: ForbiddenError; TooLargeError; UnsupportedMediaTypeError, neither PNG nor JPEG;
        ValidationError, it cannot be read or has too many pixels.
    """
    require(current_caller(), "settings:update")
    if len(content) > MAX_BYTES:
        raise TooLargeError(f"The logo has more than {MAX_BYTES} bytes.")
    if not content:
        raise ValidationError([("file", "is empty")])
    if not content.startswith(_SIGNATURES):
        raise UnsupportedMediaTypeError("The logo must be a PNG or JPEG picture.")
    from app.invoices.pdf import logo as pictures  # draws: few ask for it

    picture = pictures.read_logo(content)
    if picture is None:
        raise ValidationError(
            [("file", "must be a whole PNG or JPEG picture of at most 16 million pixels")]
        )
    from PIL import Image

    size = (picture.columns, picture.rows)
    image_bytes = io.BytesIO()
    Image.frombytes("RGB", size, picture.pixels).save(image_bytes, "PNG", optimize=True)
    stored = image_bytes.getvalue()
    sha256 = hashlib.sha256(stored).hexdigest()
    blobs.current.put(_key(sha256), stored, headers={"Content-Type": CONTENT_TYPE})
    write_row(
        LOGO,
        {
            "contentType": CONTENT_TYPE, "sha256": sha256, "size": len(stored),
            "width": picture.columns, "height": picture.rows,
        },
    )  # fmt: skip


def delete_logo() -> None:
    """Print the name instead of a logo; documents that were issued keep theirs.

    Raises: ForbiddenError.
    """
    require(current_caller(), "settings:update")
    if organisation().logo.sha256 is not None:
        write_row(LOGO, {})


def read_logo() -> bytes:
    """The picture, a PNG.

    Raises: NotFoundError, there is none.
    """
    sha256 = organisation().logo.sha256
    if sha256 is None:
        raise NotFoundError("There is no logo.")
    return blobs.current.read(_key(sha256))


def logo_file(settings: Organisation) -> bytes | None:
    """The picture for a document; a store that lost it stops no invoice."""
    if settings.logo.sha256 is None:
        return None
    try:
        return _stored(settings.logo.sha256)
    except ServiceUnavailableError:
        return None


@lru_cache(maxsize=2)
def _stored(sha256: str) -> bytes:
    """The picture of this hash, which is the same whenever it is read."""
    return blobs.current.read(_key(sha256))


def _key(sha256: str) -> str:
    return f"logos/{sha256[:2]}/{sha256}"
