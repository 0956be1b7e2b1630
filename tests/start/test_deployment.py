"""Dockerfile and compose.yaml say what the Procfile, the settings and the tree say.

No engine is at hand where the tests run: what an image would hold is copied, and started.
"""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PLATFORM = ("release", "web", "worker")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return services


def image_files() -> list[Path]:
    """Every file of the repository that .dockerignore lets into the image."""
    rules = (ROOT / ".dockerignore").read_text().split()
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip

    def is_in(path: str) -> bool:
        taken = True
        for rule in rules:
            pattern = rule.removeprefix("!")
            if fnmatch.fnmatch(path, pattern) or path.startswith(f"{pattern}/"):
                taken = rule.startswith("!")
        return taken

    return [Path(path) for path in listed if is_in(path)]


def test_compose_runs_what_the_procfile_runs(services: dict[str, Any]) -> None:
    procfile = dict(
        line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines() if line
    )
    assert {name: services[name]["command"] for name in PLATFORM} == procfile


@pytest.mark.parametrize("name", PLATFORM)
def test_compose_sets_settings_that_there_are(services: dict[str, Any], name: str) -> None:
    known = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs/settings.md").read_text(), re.M))
    assert known >= set(services[name]["environment"])


def test_what_compose_waits_for_is_there(services: dict[str, Any]) -> None:
    for service in services.values():
        for name, on in service.get("depends_on", {}).items():
            assert on["condition"] != "service_healthy" or (
                "healthcheck" in services[name]
                or "HEALTHCHECK" in (ROOT / "Dockerfile").read_text()
            )
    assert services["nginx"]["volumes"] == ["./docs/nginx.conf:/etc/nginx/nginx.conf:ro"]


def test_the_image_can_do_what_it_is_started_for(tmp_path: Path) -> None:
    for path in image_files():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, tmp_path / path)
        compiled = Path(cache_from_source(path))
        if (ROOT / compiled).exists():  # else all of it would be compiled
            (tmp_path / compiled).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / compiled, tmp_path / compiled)
    for source in re.findall(r"^COPY (?!--from)(\S+) ", (ROOT / "Dockerfile").read_text(), re.M):
        assert (tmp_path / source).exists()
    environment = {
        "APP_ENV": "production", "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz",
        "ADMIN_PASSWORD": "a long one for the first", "DATA_DIR": str(tmp_path / "data"),
    }  # fmt: skip
    # Both in one process: what costs is loading the application.
    program = "from app.start.release import main; assert main() == 0; import wsgi"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_package_says_its_licence() -> None:
    command = [sys.executable, "bin/licences.py", "requirements.txt"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout
    assert "OFL-1.1" in told.stdout  # the fonts of PDFs
