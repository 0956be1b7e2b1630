"""What the worker does with a new file: it looks for text and a picture, and keeps both.

All but plain text is opened by a process of its own (app/documents/inspection), which may take too
long or die of the file; the worker goes on.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import RowMapping, select

from app.blobs import Blob, BlobMissingError, blobs, new_key
from app.db import records
from app.db.engines import primary_engine, transaction
from app.documents.files import AREA
from app.documents.inspection.pictures import has_picture
from app.documents.inspection.texts import extract_text, has_text, is_plain
from app.http.security import acting_as, system_caller
from app.jobs import leases
from app.jobs.leases import StoppingError, is_stopping
from app.jobs.scratch import scratch_folder
from app.models.document import Document, DocumentContent, DocumentVersion
from app.models.searched import search_text

_log = structlog.get_logger(__name__)

# Larger files are found by their names only.
MAXIMUM_BYTES = 100 * 1024 * 1024
SECONDS = 30
TRIES = 2
AT_ONCE = 3
_ROOT = Path(__file__).parents[2]
# Who ends the worker often ends all that it started in the same instant. Who ends the program alone
# does it for the file: for the memory that it takes.
_FROM_OUTSIDE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_SAME_INSTANT_SECONDS = 1.0
# What is quarantined is not opened before it is released.
_QUARANTINED = select(Document.id).where(Document.status == "Quarantined")
_DUE = (DocumentContent.state == "Waiting") & DocumentContent.document_id.not_in(_QUARANTINED)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a look found; ``is_whole`` when nothing went wrong."""

    text: str
    picture: bytes | None
    is_whole: bool


def look_into_files() -> int:
    """The loop: look into some files that wait; returns how many."""
    rows = leases.take(
        DocumentContent.__table__, _DUE, limit=AT_ONCE, seconds=AT_ONCE * (SECONDS + 30),
        columns=("document_id", "version_id", "attempts"),
    )  # fmt: skip
    for index, row in enumerate(rows):
        if is_stopping():
            _give_back(rows[index:])
            return index
        try:
            look_into(dict(row))
        except StoppingError:
            _give_back(rows[index:])
            raise
    return len(rows)


def _give_back(rows: Sequence[RowMapping]) -> None:
    """Leave files to another worker, at once."""
    with transaction():
        for row in rows:
            leases.finish(DocumentContent.__table__, dict(row), {})


def inspect(path: Path, media_type: str) -> Findings:
    """Look into the file at ``path``; a text is read here, everything else by the program.

    Raises: StoppingError, somebody ended the program, and this process with it.
    """
    if is_plain(media_type):
        return Findings(extract_text(path, media_type), None, is_whole=True)
    picture = path.with_name(f"{path.name}.png")
    command = [sys.executable, "-m", "app.documents.inspection", str(path), media_type]
    try:
        done = subprocess.run(
            [*command, str(picture)], cwd=_ROOT, capture_output=True, timeout=SECONDS, env={},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        _log.warning("looking into a file took too long", media_type=media_type)
        return Findings("", None, is_whole=False)
    if done.returncode:
        if -done.returncode in _FROM_OUTSIDE and is_stopping(within=_SAME_INSTANT_SECONDS):
            raise StoppingError
        stderr = done.stderr.decode("utf-8", "replace").strip()[-300:]
        problem = stderr or f"it ended with status {done.returncode}"
        _log.warning("looking into a file failed", media_type=media_type, problem=problem)
    content = picture.read_bytes() if picture.exists() else None
    return Findings(done.stdout.decode("utf-8", "replace"), content, done.returncode == 0)


def look_into(row: Mapping[str, Any]) -> None:
    """Keep the text and the picture of one file, whose row this worker has leased."""
    with primary_engine().connect() as connection:
        version = connection.execute(
            select(DocumentVersion.__table__).where(DocumentVersion.id == row["version_id"])
        ).first()
        name = connection.execute(
            select(Document.name).where(Document.id == row["document_id"])
        ).scalar()
    if version is None:  # purged meanwhile
        return
    findings = Findings("", None, is_whole=True)
    is_open = has_text(version.content_type) or has_picture(version.content_type)
    if is_open and version.size <= MAXIMUM_BYTES:
        findings = _inspect_blob(version.blob_key, version.content_type)
    picture = None if findings.picture is None else _keep(findings.picture)
    attempts = row["attempts"] + 1
    state = "Done" if findings.is_whole else "Failed" if attempts >= TRIES else "Waiting"
    values = {
        "state": state,
        "attempts": attempts,
        "body": findings.text or None,
        "folded": f"{search_text(name or '')}\n{search_text(findings.text)}",
        "preview_key": None if picture is None else picture.key,
    }
    with transaction(), acting_as(system_caller("job")):
        before = records.read(DocumentContent, row["id"])
        is_ours = leases.finish(DocumentContent.__table__, row, values)
    unused = before.preview_key if is_ours and before else picture.key if picture else None
    if unused is not None:
        blobs.current.delete(unused)


def _inspect_blob(key: str, media_type: str) -> Findings:
    with scratch_folder("document-") as folder:
        path = Path(folder, "file")
        try:
            with path.open("wb") as file:
                for chunk in blobs.current.stream(key):
                    file.write(chunk)
        except BlobMissingError:
            return Findings("", None, is_whole=False)
        return inspect(path, media_type)


def _keep(picture: bytes) -> Blob:
    headers = {"Content-Type": "image/png"}
    return blobs.current.put(new_key(AREA), picture, headers=headers)
