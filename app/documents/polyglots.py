"""Files that are two things at once: what one reader takes for a picture, another unpacks.

Such a file is kept, and quarantined until an administrator has looked at it.
"""

from __future__ import annotations

import re

from app.documents.media_types import PDF, PLAIN_OFFICE, is_text

# An archive's end stands in its last 64 KB, behind which its comment reaches to the last byte.
TAIL_BYTES = 66 * 1024
_END_OF_ARCHIVE = b"PK\x05\x06"
_END_BYTES = 22
_ACTIVE = re.compile(rb"<(script|\?php|html)[\s>]", re.IGNORECASE)


def suspicion(media_type: str, head: bytes, tail: bytes) -> str | None:
    """Why a file is not to be given out, or None; ``tail`` are its last ``TAIL_BYTES``."""
    is_archive = head.startswith(b"PK")
    if not is_archive and _ends_as_archive(tail):
        return f"{media_type} that is a ZIP archive as well"
    # Readers of PDF look for its mark in the first kilobyte.
    if media_type != PDF and not is_text(media_type) and b"%PDF-" in head[:1024]:
        return f"{media_type} that is a PDF as well"
    if media_type.startswith("image/") and not is_text(media_type) and _ACTIVE.search(head):
        return f"{media_type} with a script inside"
    # Names of entries stand in the directory at the end; those of Office say "macroenabled".
    if is_archive and media_type in PLAIN_OFFICE and b"vbaProject.bin" in tail:
        return f"{media_type} with macros, which its name does not say"
    return None


def _ends_as_archive(tail: bytes) -> bool:
    at = tail.rfind(_END_OF_ARCHIVE)
    if at < 0 or len(tail) - at < _END_BYTES:
        return False
    comment = int.from_bytes(tail[at + 20 : at + 22], "little")
    return at + _END_BYTES + comment == len(tail)
