"""Faults of the disk: full, or no longer to be written to."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.faults.bed import Bed, small_bed
from tests.faults.results import Report
from tests.faults.traffic import move_files, read_clients, traffic, write_clients

MEGABYTES = 64
FULL_SECONDS = 8.0
# SQLite gives up after its busy timeout; a full disk shows at once.
DEADLINE_SECONDS = 11.0
BLOCK = b"\0" * 4096


@contextmanager
def on_small_disks(first_port: int | None) -> Iterator[tuple[Bed, Path, Path]]:
    """A service whose database, log and temporary files are on one small disk, files on another.

    Raises: PermissionError, who runs this may not mount file systems.
    """
    with (
        tempfile.TemporaryDirectory() as name,
        _disk(Path(name, "data")) as data,
        _disk(Path(name, "files")) as files,
        small_bed(first_port, data, files) as bed,
    ):
        yield bed, data, files


def full(bed: Bed, report: Report, data: Path) -> None:
    """The disk with database, log and temporary files is full for 8 seconds."""
    ballast = data / "ballast"
    with (
        traffic(bed.port, bed.key, write_clients) as writers,
        traffic(bed.port, bed.key, read_clients) as readers,
    ):
        time.sleep(2)
        fill(ballast)
        began = time.monotonic()
        while time.monotonic() - began < FULL_SECONDS:
            fill(ballast)  # what was freed meanwhile
            time.sleep(0.5)
        live = bed.ask("/healthz")[0]
        ballast.unlink()
        back_at = time.monotonic()
        time.sleep(8)
    refused = [one for one in writers.errors() if one.began < back_at]
    report.check("writes are refused while it is full", bool(refused), writers.told())
    report.check_answers(writers, within=DEADLINE_SECONDS, back_at=back_at)
    report.check_no_errors(readers, "reads go on")
    report.check("/healthz is 200", live == 200, live)
    bed.check_kept(report, writers)


def full_files(bed: Bed, report: Report, files: Path) -> None:
    """The disk of the files is full for 8 seconds."""
    _without_files(bed, report, files, lambda: fill(files / "ballast"),
                   (files / "ballast").unlink)  # fmt: skip


def read_only_files(bed: Bed, report: Report, files: Path) -> None:
    """The folder of the files cannot be written to for 8 seconds."""
    _without_files(bed, report, files, lambda: _remount(files, "ro"), lambda: _remount(files, "rw"))


def _without_files(bed, report, files, begin, end) -> None:  # type: ignore[no-untyped-def]
    with (
        traffic(bed.port, bed.key, move_files) as uploads,
        traffic(bed.port, bed.key, write_clients, read_clients) as others,
    ):
        time.sleep(2)
        begin()
        time.sleep(FULL_SECONDS)
        ready, told = bed.ask("/readyz")
        kept = [_is_there(bed, key) for key in list(uploads.files)[:5]]
        end()
        back_at = time.monotonic()
        time.sleep(8)
    report.check_no_errors(others, "what needs no files goes on")
    refused = [one for one in uploads.errors() if one.began < back_at]
    report.check("uploads are refused meanwhile", bool(refused), uploads.told())
    report.check_answers(uploads, within=DEADLINE_SECONDS, back_at=back_at)
    report.check("downloads go on", bool(kept) and all(kept), f"{sum(kept)} of {len(kept)}")
    told = told and told["checks"]["storage"]
    report.check("/readyz is 200 and says so", ready == 200 and told != "ok", f"{ready}, {told}")
    left = [key for key in uploads.files if not _is_there(bed, key)]
    report.check("every file that was taken is there", not left,
                 f"{len(uploads.files)} taken, {len(left)} missing")  # fmt: skip
    unfinished = [name for _, _, names in os.walk(files) for name in names if "#" in name]
    report.check("nothing half written is left", not unfinished, f"{len(unfinished)} files")


def _is_there(bed: Bed, key: int) -> bool:
    content = bed.download(key)
    return content is not None and len(content) == 6000


def fill(ballast: Path) -> None:
    """Write until nothing fits any more."""
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(BLOCK * 64)
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(BLOCK)


@contextmanager
def _disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    if os.geteuid() != 0:
        raise PermissionError("only root may mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PermissionError(done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def _remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)
