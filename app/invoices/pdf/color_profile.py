"""The colours of the pages, as an ICC profile: sRGB (IEC 61966-2-1), made by LittleCMS."""

from __future__ import annotations

from functools import cache

from PIL import ImageCms

_VERSION = slice(8, 10)
_OF_ISO_15076 = b"\x04\x30"  # 4.3, the newest that PDF/A-3 names (ISO 19005-3, 6.2.3)
_CREATED = slice(24, 36)  # date and time of creation: six numbers of two bytes (ICC.1, 7.2.8)
_SOME_DAY = b"".join(number.to_bytes(2, "big") for number in (2020, 1, 1, 0, 0, 0))


@cache
def srgb_profile() -> bytes:
    """The bytes of the profile, without the moment they were made in."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_VERSION] = _OF_ISO_15076
    profile[_CREATED] = _SOME_DAY
    return bytes(profile)
