"""The documented nginx in front of web processes: docs/nginx.conf with other addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.peers.processes import BenchError, ending_with_us

CONFIGURATION = Path(__file__).parents[1] / "docs" / "nginx.conf"
_SERVER = "server 127.0.0.1:8000 max_fails=3 fail_timeout=1s;"
_LISTEN = "listen 80 backlog=4096;"
_PID = "/run/platform-nginx.pid"


def find_nginx() -> str | None:
    """The program, where it is installed."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


@contextmanager
def nginx(folder: Path, listen: str, upstreams: Sequence[str], *prefix: str) -> Iterator[None]:
    """nginx at ``listen`` (address:port) in front of ``upstreams``, for the length of the block.

    Args:
        prefix: a command before it, such as one that enters a network namespace.
    Raises: BenchError, it is not installed, or does not start.
    """
    program = find_nginx()
    if program is None:
        raise BenchError("nginx is not installed")
    text = CONFIGURATION.read_text("utf-8")
    for part in (_SERVER, _LISTEN, _PID):
        assert part in text, part
    servers = "\n        ".join(_SERVER.replace("127.0.0.1:8000", one) for one in upstreams)
    text = text.replace(_SERVER, servers).replace(_LISTEN, f"listen {listen} backlog=4096;")
    text = text.replace(_PID, str(folder / "nginx.pid"))
    configuration = folder / "nginx.conf"
    # What is buffered lies below the folder as well.
    kept = "".join(
        f"    {kind}_temp_path {folder}/nginx-{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Started by root it would serve as somebody who may not write there.
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration.write_text(user + text.replace("http {\n", f"http {{\n{kept}", 1))
    command = [*prefix, *ending_with_us(), program]
    command += ["-e", "stderr", "-g", "daemon off;", "-c", str(configuration)]
    with (folder / "nginx.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        time.sleep(1)
        if process.poll() is not None:
            raise BenchError(f"nginx: {(folder / 'nginx.log').read_text('utf-8')[-500:]}")
        yield
    finally:
        process.terminate()
        process.wait(10)
