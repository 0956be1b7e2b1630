"""The fixtures of the services, and callers over HTTP that upload and download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.business import admin
from tests.contract.conftest import Api, sign_in

__all__ = ["admin", "sign_in"]

PDF = b"%PDF-1.7\n% a file of the tests\n"
TEXT = b"The quick brown fox jumps over the lazy dog.\n"


def encoded(form: list[tuple[str, Any]]) -> tuple[str, bytes]:
    """Boundary and body of a form, in its order: ``(name, text or (content, file name))``."""
    boundary, parts = "xxBOUNDARYxx", []
    for name, value in form:
        content, file_name = value if isinstance(value, tuple) else (value.encode(), None)
        # As browsers do (HTML, multipart/form-data encoding algorithm).
        quoted = "" if file_name is None else file_name.replace('"', "%22")
        filename = "" if file_name is None else f'; filename="{quoted}"'
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{filename}\r\n\r\n'
        parts.append(head.encode() + content + b"\r\n")
    return boundary, b"".join(parts) + f"--{boundary}--\r\n".encode()


@dataclass
class Files:
    """A signed-in caller who works with files."""

    api: Api

    def upload(
        self,
        content: bytes = TEXT,
        file_name: str = "fox.txt",
        headers: Any = None,
        /,
        **fields: Any,
    ) -> TestResponse:
        """Send a form with a file."""
        many = {key: value if isinstance(value, list) else [value] for key, value in fields.items()}
        form = [(key, str(value)) for key, values in many.items() for value in values]
        boundary, body = encoded([*form, ("file", (content, file_name))])
        return self.api.client.post(
            "/api/documents/upload",
            data=body,
            content_type=f"multipart/form-data; boundary={boundary}",
            headers={**self.api.headers, **(headers or {})},
        )

    def document(self, content: bytes = TEXT, file_name: str = "fox.txt", /, **fields: Any) -> int:
        """The key of a document that was uploaded."""
        answer = self.upload(content, file_name, **fields)
        assert answer.status_code == 201, answer.text
        return int(answer.json["id"])

    def download(self, key: int, query: str = "", **headers: str) -> TestResponse:
        """Ask for the bytes; ``If_Match="..."`` is a header."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return self.api.get(f"/api/documents/{key}/download{query}", headers=named)


@pytest.fixture
def files(sign_in: Any) -> Files:
    """An administrator with files."""
    return Files(sign_in("Admin"))
