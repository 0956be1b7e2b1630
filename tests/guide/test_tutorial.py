"""Every command of the tutorial, run in a shell against a service that was started as it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.peers.processes import free_port
from tests.architecture.modules import ROOT

pytestmark = pytest.mark.costly(0)

_BLOCK = re.compile(r"^```(sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PASSWORD = "violet-anchor-morning-93"
STARTED = "python -m app.start"


@pytest.fixture
def blocks() -> list[tuple[str, str]]:
    """The kind of each block of commands, and the commands."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    return _BLOCK.findall(text)


@pytest.mark.needs("curl")
def test_every_command_works(blocks: list[tuple[str, str]], tmp_path: Path) -> None:
    (start,) = [text.strip() for kind, text in blocks if kind == "sh"]
    said = subprocess.run(
        ["make", "--dry-run", "--always-make", *start.split()[1:]],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert STARTED in said
    port = free_port()
    environment = {
        **os.environ, "PORT": str(port), "DATA_DIR": str(tmp_path / "data"), "DEMO_DATA": "0",
        "ADMIN_PASSWORD": PASSWORD,
    }  # fmt: skip
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(
        [sys.executable, *STARTED.split()[1:]], cwd=ROOT, env=environment, stdout=log, stderr=log,
        start_new_session=True,
    ) as service:  # fmt: skip
        try:
            waiting = f"until curl -sf http://127.0.0.1:{port}/readyz; do sleep 0.2; done"
            subprocess.run(["bash", "-c", waiting], check=True, timeout=120, capture_output=True)
            commands = "".join(text for kind, text in blocks if kind == "bash")
            commands = commands.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
            commands = commands.replace("THE PRINTED PASSWORD", PASSWORD)
            ran = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stdout + ran.stderr
            assert '"total":1214.4' in ran.stdout.replace(" ", "")
            assert "the invoice is paid" in ran.stdout
            assert (tmp_path / "draft.pdf").read_bytes().startswith(b"%PDF")
        finally:
            service.terminate()
            service.wait(60)
