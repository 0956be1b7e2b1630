"""What the terminal says leads to an answer when it is pasted."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.start.banner import Administrator, banner, curl_line

ADDRESS = "http://127.0.0.1:8000"


class Recorder(http.server.BaseHTTPRequestHandler):
    """Gives a token for any credentials, and notes what was asked for."""

    asked: list[tuple[str, str, Any]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, "", json.loads(body)))
        self._answer(b'{"accessToken": "abc.def", "refreshToken": "ghi"}')

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Authorization"], None))
        self._answer(b'{"value": []}')

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests are quiet."""


@pytest.fixture
def recorder() -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    Recorder.asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", Recorder.asked
        server.shutdown()


@pytest.mark.needs("curl")
@pytest.mark.parametrize("password", ["plain-Password_1", 'it\'s "quoted" $HOME `date` \\n'])
def test_pasted_line_logs_in_and_lists_clients(
    recorder: tuple[str, list[Any]], password: str
) -> None:
    address, asked = recorder
    line = curl_line(address, Administrator("admin", password, None))
    subprocess.run(["bash", "-c", line], check=True, capture_output=True, timeout=20)
    assert asked[0] == ("/api/auth/login", "", {"username": "admin", "password": password})
    assert asked[1][:2] == (
        "/odata/Clients?$top=3&$select=id,name,status,revenue", "Bearer abc.def",
    )  # fmt: skip


@pytest.mark.needs("curl")
def test_later_start_reads_the_password_from_its_file(
    recorder: tuple[str, list[Any]], tmp_path: Path
) -> None:
    address, asked = recorder
    file = tmp_path / "admin password"
    file.write_text("made-By_chance1\n")
    line = curl_line(address, Administrator("admin", None, file))
    assert "made-By_chance1" not in line
    subprocess.run(["bash", "-c", line], check=True, capture_output=True, timeout=20)
    assert asked[0][2] == {"username": "admin", "password": "made-By_chance1"}


@pytest.mark.parametrize(
    ("administrator", "shown"),
    [
        (Administrator("ann", "s3cret-word", None), "s3cret-word"),
        (Administrator("ann", "s3cret-word", Path("/data/pw")), "s3cret-word  (kept in /data/pw)"),
        (Administrator("ann", None, Path("/data/pw")), "in /data/pw"),
        (Administrator("ann", None, None), "the one that was chosen at the first start"),
    ],
    ids=["given", "made now", "made before", "given before"],
)
def test_banner_says_where_to_go_and_who_may(administrator: Administrator, shown: str) -> None:
    text = banner(ADDRESS, administrator)
    assert f"The service      {ADDRESS}\n" in text
    assert f"{ADDRESS}/admin\n" in text
    assert f"{ADDRESS}/docs\n" in text
    assert "Administrator    ann\n" in text
    assert f"Password         {shown}\n" in text
