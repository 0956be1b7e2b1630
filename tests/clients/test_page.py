"""The program on docs/clients.md that needs no client library does what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.clients.page import SOUGHT, programs
from tests.conformance.running import running_service


def test_plain_requests_read_page_by_page(tmp_path: Path) -> None:
    (program,) = (one for one in programs("python") if "from odata" not in one)
    with running_service(tmp_path, f"sqlite:///{tmp_path / 'page.db'}") as service:
        given = {"SERVICE_ROOT": service.root, "API_KEY": service.credentials["X-API-Key"]}
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=True, capture_output=True, text=True, timeout=60, env={**os.environ, **given},
        )  # fmt: skip
    assert done.stdout.splitlines() == [f'{SOUGHT} W/"1"']


def test_each_language_has_its_programs() -> None:
    assert [len(programs(language)) for language in ("python", "js")] == [2, 2]
