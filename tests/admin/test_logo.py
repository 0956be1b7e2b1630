"""The logo: taken as a picture or refused, and printed."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

from tests.contract.conftest import Api
from tests.contract.test_rest_money import draft

LOGO = "/api/admin/settings/logo"


def picture(kind: str = "PNG", size: tuple[int, int] = (400, 100), color: str = "red") -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, color).save(content, kind)
    return content.getvalue()


def upload(api: Api, content: bytes, name: str = "logo.png") -> Any:
    return api.client.put(LOGO, data={"file": (io.BytesIO(content), name)}, headers=api.headers)


def header_only(width: int, height: int) -> bytes:
    """A PNG that says it has this many pixels and has none."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + head
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", len(head)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )  # fmt: skip


def test_a_picture_becomes_the_logo(admin: Api) -> None:
    for kind in ("PNG", "JPEG"):
        answer = upload(admin, picture(kind, (1800, 300)))
        assert answer.status_code == 200, answer.text
        assert (answer.json["contentType"], answer.json["width"], answer.json["height"]) == (
            "image/png", 900, 150,
        )  # fmt: skip
    shown = admin.get(LOGO)
    assert (shown.status_code, shown.mimetype) == (200, "image/png")
    assert Image.open(io.BytesIO(shown.data)).size == (900, 150)
    known = admin.get(LOGO, headers={"If-None-Match": shown.headers["ETag"]})
    assert known.status_code == 304
    assert admin.get("/api/admin/settings").json["logo"]["sha256"] == answer.json["sha256"]


def test_it_is_printed_and_taken_away(admin: Api) -> None:
    path = f"/api/invoices/{draft(admin)['id']}/pdf"
    without = admin.get(path).data
    upload(admin, picture())
    assert b"/Image" in admin.get(path).data
    assert admin.delete(LOGO).status_code == 204
    assert admin.get(path).data == without
    assert admin.get(LOGO).status_code == 404
    assert admin.get("/api/admin/settings").json["logo"] is None
    assert admin.delete(LOGO).status_code == 204


def test_what_is_no_picture_is_refused(admin: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.invoices.logo.MAX_BYTES", 5_000)
    cases = [
        (b"", 400),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 415),
        (b"GIF89a" + b"\0" * 100, 415),
        (picture()[:200], 400),
        (header_only(60_000, 60_000), 400),
        (header_only(0, 1), 400),
        (picture() + b"x" * 5_001, 413),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 100, 400),
    ]
    for content, status in cases:
        answer = upload(admin, content)
        assert answer.status_code == status, (content[:20], answer.text)
    assert admin.client.put(LOGO, headers=admin.headers).status_code == 400
    assert admin.get(LOGO).status_code == 404


def test_only_administrators_upload(sign_in: Any) -> None:
    user = sign_in("Manager")
    assert upload(user, picture()).status_code == 403
    assert user.delete(LOGO).status_code == 403
