"""Start the service, run each client against it, say which did what it should."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Callable
from pathlib import Path

from tests.clients.page import SOUGHT, programs
from tests.conformance.running import running_service
from tests.conformance.service import Service

HERE = Path(__file__).parent
PYTHON, JAVASCRIPT = HERE / "python", HERE / "javascript"
OPENUI5, CAP = HERE / "openui5", HERE / "cap"
SECONDS = 300


class NotInstalledError(Exception):
    """A client cannot be run here; the text says why."""


def main() -> int:
    clients: dict[str, Callable[[Service], None]] = {
        "python-odata": python_odata,
        "@odata/client": lambda service: script(service, "odata_client.js"),
        "o.js": lambda service: script(service, "o_js.js"),
        "odata2ts": odata2ts,
        "OpenUI5": openui5,
        "SAP CAP": cap,
        "clients.md (py)": python_of_the_page,
        "clients.md (js)": javascript_of_the_page,
    }
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = os.environ.get("DATABASE_URL") or f"sqlite:///{folder / 'clients.db'}"
        with running_service(folder, url) as service:
            for client, run in clients.items():
                try:
                    run(service)
                except NotInstalledError as error:
                    print(f"{client:16} left out: {error}")
                    failed = True
                except subprocess.SubprocessError as error:
                    print(f"{client:16} FAIL\n{_output(error)}")
                    failed = True
                else:
                    print(f"{client:16} pass")
    return int(failed)


def python_odata(service: Service) -> None:
    """python-odata in an environment of its own: its package is named ``odata``."""
    _run([_python(), str(PYTHON / "python_odata.py")], PYTHON, service)


def python_of_the_page(service: Service) -> None:
    """The Python on docs/clients.md."""
    for program in programs("python"):
        _expect(_run([_python(), "-c", program], PYTHON, service))


def javascript_of_the_page(service: Service) -> None:
    """The JavaScript on docs/clients.md."""
    _node_modules(JAVASCRIPT)
    for program in programs("js"):
        _expect(_run(["node", "--input-type=module", "--eval", program], JAVASCRIPT, service))


def _expect(printed: bytes) -> None:
    if SOUGHT not in printed.decode():
        raise subprocess.SubprocessError(f"{SOUGHT} was not found, but: {printed[:300]!r}")


def _python() -> str:
    home = PYTHON / ".venv"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        _install([str(python), "-m", "pip", "install", "--quiet", "--require-hashes",
                  "--requirement", str(PYTHON / "requirements.txt")], PYTHON)  # fmt: skip
    return str(python)


def script(service: Service, name: str) -> None:
    """A client for Node."""
    _node_modules(JAVASCRIPT)
    _run(["node", name], JAVASCRIPT, service)


def odata2ts(service: Service) -> None:
    """A client that is generated from the metadata first."""
    _node_modules(JAVASCRIPT)
    _save_metadata(service, JAVASCRIPT / "metadata.xml")
    generated = JAVASCRIPT / "generated"
    shutil.rmtree(generated, ignore_errors=True)
    _run(["npm", "run", "--silent", "generate"], JAVASCRIPT, service)
    (generated / "package.json").write_text('{"type":"commonjs"}', encoding="utf-8")
    _run(["node", "odata2ts.js"], JAVASCRIPT, service)


def openui5(service: Service) -> None:
    """OpenUI5's ODataModel V4 in a browser without a window."""
    if shutil.which("chromium") is None:
        raise NotInstalledError("Chromium is not installed")
    _node_modules(OPENUI5)
    _run([sys.executable, str(OPENUI5 / "run.py")], OPENUI5, service)


def cap(service: Service) -> None:
    """SAP CAP: the metadata is imported as a model, then queries of CAP become OData."""
    _node_modules(CAP)
    with tempfile.TemporaryDirectory() as name:
        # The import writes into package.json: that of the repository stays as it is.
        folder = Path(name)
        for file in ("package.json", "run.js"):
            shutil.copy(CAP / file, folder)
        (folder / "node_modules").symlink_to(CAP / "node_modules")
        _save_metadata(service, folder / "BusinessPlatform.edmx")
        _run(["npm", "run", "--silent", "import"], folder, service)
        _run(["node", "run.js"], folder, service)


def _save_metadata(service: Service, path: Path) -> None:
    request = urllib.request.Request(service.root + "$metadata", headers=dict(service.credentials))
    with urllib.request.urlopen(request) as answer:
        path.write_bytes(answer.read())


def _node_modules(folder: Path) -> None:
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise NotInstalledError("Node is not installed")
    if not (folder / "node_modules").exists():
        _install(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)


def _install(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
    except subprocess.SubprocessError as error:
        raise NotInstalledError(f"{' '.join(command[:3])} failed: {_output(error)}") from error


def _run(command: list[str], folder: Path, service: Service) -> bytes:
    """What the command printed."""
    more = {"SERVICE_ROOT": service.root, "API_KEY": service.credentials["X-API-Key"]}
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, timeout=SECONDS,
        env={**os.environ, **more},
    )  # fmt: skip
    return done.stdout


def _output(error: subprocess.SubprocessError) -> str:
    text = (getattr(error, "stderr", None) or b"") + (getattr(error, "stdout", None) or b"")
    return text.decode(errors="replace").strip()[-1500:] or str(error)


if __name__ == "__main__":
    sys.exit(main())
