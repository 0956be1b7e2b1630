"""Reading a message that came in: its beginning is enough, its end is the mail that it returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

KEPT_BYTES = 1_000_000


def first_bytes(chunks: Iterable[bytes]) -> tuple[bytes, str]:
    """The first megabyte, and the SHA-256 of all in hex."""
    kept, digest = bytearray(), hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
        kept += chunk[: KEPT_BYTES - len(kept)]
    return bytes(kept), digest.hexdigest()
