"""Memory and time of large files: one is uploaded, downloaded whole and by its end.

    python -m bench.upload [--gigabytes 2] [--at-once 2]

The service runs as in production. Measured is the largest resident memory of its process; what
comes back must have the SHA-256 of what was sent. STORAGE_URL and the AWS_* variables may name an
object store; the default is files on this disk.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from app.auth.users import create_user
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from bench.peers.processes import children
from bench.services import Place, service

PASSWORD = "correct horse battery staple"
PIECE = 1024 * 1024
PORT = 8159


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--port", type=int, default=PORT)
    wanted = parser.parse_args()
    pieces = int(wanted.gigabytes * 1024)
    with service(MAX_UPLOAD_MB=str(pieces + 1), PORT=str(wanted.port)) as place:
        measure(place, pieces, wanted.at_once, f"http://127.0.0.1:{wanted.port}")


def measure(place: Place, pieces: int, at_once: int, root: str) -> None:
    """Upload and download ``at_once`` files of ``pieces`` MB, and print what it cost."""
    headers = sign_in(place, root)
    small = upload(root, headers, 1)[0]
    download(root, headers, small)
    # What checking the password took (64 MB) is no part of this.
    for child in web_processes(place):
        Path(f"/proc/{child}/clear_refs").write_text("5", "ascii")
    before = peak_mb(place)
    print(f"memory after the first small file: {before:.0f} MB")
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        sent = list(pool.map(lambda _: upload(root, headers, pieces), range(at_once)))
    seconds = time.monotonic() - started
    after = peak_mb(place)
    print(
        f"{at_once} uploads of {pieces} MB at once: {seconds:.1f} s,"
        f" {at_once * pieces / seconds:.0f} MB/s, memory at most {after:.0f} MB"
        f" ({after - before:+.0f})"
    )
    started = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        received = list(pool.map(lambda made: download(root, headers, made[0]), sent))
    seconds = time.monotonic() - started
    print(
        f"{at_once} downloads at once: {seconds:.1f} s, {at_once * pieces / seconds:.0f} MB/s,"
        f" memory at most {peak_mb(place):.0f} MB ({peak_mb(place) - before:+.0f})"
    )
    started = time.monotonic()
    end = requests.get(
        f"{root}/api/documents/{sent[0][0]}/download",
        headers={**headers, "Range": "bytes=-1000"}, timeout=30,
    )  # fmt: skip
    print(f"the last 1000 bytes: {end.status_code}, {(time.monotonic() - started) * 1000:.0f} ms")
    whole = all(digest == made[1] for digest, made in zip(received, sent, strict=True))
    print("every byte came back" if whole else "BYTES DIFFER")
    if not whole:
        raise SystemExit(1)


def sign_in(place: Place, root: str) -> dict[str, str]:
    """Start the web process, and get a token for an administrator."""
    with place.app.app_context(), transaction(), acting_as(system_caller("bench")):
        create_user(
            username="bench", email="bench@example.com", display_name="Bench",
            password=PASSWORD, roles=["Admin"],
        )  # fmt: skip
    place.start("gunicorn", "--config", "gunicorn.conf.py", "wsgi:app")
    credentials = {"username": "bench", "password": PASSWORD}
    for _ in range(300):
        try:
            answer = requests.post(f"{root}/api/auth/login", json=credentials, timeout=10)
        except requests.ConnectionError:
            time.sleep(0.2)
            continue
        return {"Authorization": f"Bearer {answer.json()['accessToken']}"}
    raise SystemExit(f"the service does not answer at {root}")


def upload(root: str, headers: dict[str, str], pieces: int) -> tuple[int, str]:
    """Send a file of ``pieces`` MB as a form; its key and its SHA-256."""
    boundary = "xxBOUNDARYxx"
    digest = hashlib.sha256()
    piece = os.urandom(PIECE)

    def body() -> Iterator[bytes]:
        head = 'Content-Disposition: form-data; name="file"; filename="large.dat"'
        yield f"--{boundary}\r\n{head}\r\n\r\n".encode()
        for number in range(pieces):
            part = number.to_bytes(8, "big") + piece[8:]
            digest.update(part)
            yield part
        yield f"\r\n--{boundary}--\r\n".encode()

    answer = requests.post(
        f"{root}/api/documents/upload", data=body(), timeout=600,
        headers={**headers, "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )  # fmt: skip
    answer.raise_for_status()
    assert answer.json()["sha256"] == digest.hexdigest()
    return int(answer.json()["id"]), digest.hexdigest()


def download(root: str, headers: dict[str, str], key: int) -> str:
    """Read a document to its end; the SHA-256 of what came."""
    digest = hashlib.sha256()
    address = f"{root}/api/documents/{key}/download"
    with requests.get(address, headers=headers, stream=True, timeout=600) as answer:
        answer.raise_for_status()
        for chunk in answer.iter_content(PIECE):
            digest.update(chunk)
    return digest.hexdigest()


def web_processes(place: Place) -> list[str]:
    """The processes that answer, below the one that was started."""
    master = place.processes[0].pid
    return [str(child) for child in children(master)]


def peak_mb(place: Place) -> float:
    """The largest resident memory of a web process since it was last set back."""
    peaks = []
    for child in web_processes(place):
        status = Path(f"/proc/{child}/status").read_text("ascii").splitlines()
        line = next(line for line in status if line.startswith("VmHWM"))
        peaks.append(int(line.split()[1]) / 1024)
    return max(peaks)


if __name__ == "__main__":
    main()
