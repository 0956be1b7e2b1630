"""The blob store: bytes under keys, in files below DATA_DIR, in an S3 bucket, or in memory.

A key is made by the service and never from a name that somebody gave. A blob appears whole or not
at all, is written once and never changed. Rows name blobs; what no row names is swept up later
(app/documents/cleanup.py), so a crash between the two leaves at worst bytes that nobody sees.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import obstore
import structlog
from flask import Flask
from obstore import exceptions, store as stores

from app.config import ConfigError
from app.errors import ServiceUnavailableError, TooLargeError
from app.extensions import Extension

_log = structlog.get_logger(__name__)

SCHEMES = ("file", "s3", "memory")
# Under this a blob is written in one request; over it in parts, two of which are under way.
PART_BYTES = 5 * 1024 * 1024
PARTS_AT_ONCE = 2
READ_BYTES = 256 * 1024
_LISTED_AT_ONCE = 500
_KEY = re.compile(r"[a-z0-9]+(?:[/._-][a-z0-9]+)*")
_KEY_LENGTH = 100
# An object store that is away is an answer of some seconds, not of obstore's three minutes.
RETRIES: Any = {"max_retries": 2, "retry_timeout": timedelta(seconds=4)}
CLIENT = {
    "connect_timeout": timedelta(seconds=2),
    # Of silence, before the answer to a part of a file or inside it; a whole file may take longer.
    "read_timeout": timedelta(seconds=8),
    "timeout": timedelta(seconds=60),
}
# Whether the store answers is asked by a monitor, which does not wait.
_PROBE = {"connect_timeout": timedelta(seconds=1), "timeout": timedelta(seconds=2)}
_NO_RETRIES: Any = {"max_retries": 0}
# With less left on the disk, uploads are refused soon.
_FULL_BYTES = 10 * 1024 * 1024
# What was being written when the process was killed: LocalStore's names for unfinished files.
_UNFINISHED = re.compile(r".+#\d+")


class BlobMissingError(ServiceUnavailableError):
    """A key under which nothing lies, though a row names it: the store lost it, or is another."""


def is_passing(error: Exception) -> bool:
    """Whether what was refused may be tried again: a part is away, but nothing is lost."""
    return isinstance(error, ServiceUnavailableError) and not isinstance(error, BlobMissingError)


@dataclass(frozen=True, slots=True)
class Blob:
    """What was written: the key, the bytes counted, and their SHA-256 in hex."""

    key: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """A blob in a listing."""

    key: str
    size: int
    modified_at: datetime


blobs: Extension[BlobStore] = Extension("blobs")


def init_app(app: Flask) -> None:
    """Give ``app`` the store that STORAGE_URL names; nothing is opened before its first use.

    Raises: ConfigError, there is no such kind of store.
    """
    folder = app.config["DATA_DIR"] / "files"
    blobs.bind(app, BlobStore(app.config["STORAGE_URL"] or f"file://{folder}"))


def new_key(area: str) -> str:
    """A key of 128 random bits: ``documents/3f/3f9c...``; folders keep directories small."""
    name = secrets.token_hex(16)
    return f"{area}/{name[:2]}/{name}"


class BlobStore:
    """One store. Every method raises ServiceUnavailableError when the store does not answer."""

    def __init__(self, url: str) -> None:
        """``url``: ``file:///folder``, ``s3://bucket/prefix`` or ``memory://``.

        Address and credentials of S3 come from the usual AWS_* variables.
        """
        self.scheme, separator, self._place = url.partition("://")
        if self.scheme not in SCHEMES or not separator:
            raise ConfigError("STORAGE_URL must begin with file:// or s3://")
        self._url = url

    def put(
        self, key: str, content: bytes | Iterable[bytes], *, maximum: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Blob:  # fmt: skip
        """Write a blob as its bytes come in; it appears under ``key`` when all of it is there.

        Args:
            maximum: bytes allowed.
            headers: Content-Type and Content-Disposition for stores that serve blobs themselves.
        Raises: TooLargeError; whatever ``content`` raises. Nothing is left behind then.
        """
        _check_key(key)
        meter = _Meter(maximum)
        chunks = meter.count((content,) if isinstance(content, bytes) else content)
        attributes: Any = dict(headers) if headers and self.scheme == "s3" else None
        first, is_all = _gather(chunks)
        with _answers(), meter.apart():
            if is_all:
                obstore.put(
                    self._store, key, first, attributes=attributes, use_multipart=False
                )  # fmt: skip
            else:
                obstore.put(
                    self._store, key, chain((first,), chunks), attributes=attributes,
                    use_multipart=True, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE,
                )  # fmt: skip
            self._flush(key)
        return Blob(key, meter.size, meter.digest.hexdigest())

    def read(self, key: str) -> bytes:
        """All bytes of a blob.

        Raises: BlobMissingError.
        """
        return b"".join(self.stream(key))

    def stream(
        self, key: str, start: int = 0, end: int | None = None, *, chunk: int = READ_BYTES
    ) -> Iterator[bytes]:
        """The bytes of a blob from ``start`` to before ``end``, in pieces; one is read at once.

        Who begins an answer with them knows then that the store gives the blob, not only says so.

        Raises: BlobMissingError.
        """
        _check_key(key)
        if end is not None and end <= start:
            return iter(())
        options: Any = {}
        if end is not None:
            options = {"range": (start, end)}
        elif start:
            options = {"range": {"offset": start}}
        with _answers(key):
            pieces = iter(obstore.get(self._store, key, options=options).stream(chunk))
            first = bytes(next(pieces, b""))
        return _pieces(first, pieces)

    def delete(self, key: str) -> None:
        """Remove a blob; one that is not there is no error."""
        _check_key(key)
        with _answers():
            try:
                obstore.delete(self._store, key)
            except FileNotFoundError:
                return

    def keys_before(self, prefix: str, before: datetime) -> Iterator[set[str]]:
        """The keys of blobs that were written before an instant, some hundreds at a time."""
        old = (entry.key for entry in self.entries(prefix) if entry.modified_at < before)
        while keys := set(islice(old, _LISTED_AT_ONCE)):
            yield keys

    def entries(self, prefix: str = "") -> Iterator[BlobEntry]:
        """Every blob below ``prefix`` (whole segments), in no order; unfinished ones are none."""
        with _answers():
            for page in obstore.list(self._store, prefix or None):
                for meta in page:
                    yield BlobEntry(meta["path"], meta["size"], meta["last_modified"])

    def sign(self, key: str, seconds: int) -> str | None:
        """An address that gives the blob to anybody for ``seconds``; None where there is none."""
        _check_key(key)
        if self.scheme != "s3":
            return None
        with _answers():
            store: Any = self._store
            return obstore.sign(store, "GET", key, timedelta(seconds=seconds))

    def check(self) -> str:
        """``ok``, or what is wrong, in a word or two; for the page that says so."""
        if self.scheme == "file":
            folder = self._folder
            while not folder.exists():  # made with the first file
                folder = folder.parent
            if not (folder.is_dir() and os.access(folder, os.W_OK)):
                return "not writable"
            return "ok" if shutil.disk_usage(folder).free > _FULL_BYTES else "full"
        try:
            with _answers():
                obstore.head(self._probe, "readiness")
        except BlobMissingError:
            return "ok"
        except ServiceUnavailableError:
            return "away"
        return "ok"

    def discard_unfinished(self, before: datetime) -> int:
        """Remove what writes that never ended have left in files; returns how many.

        An S3 bucket does it by a lifecycle rule (docs/documents.md).
        """
        if self.scheme != "file" or not self._folder.is_dir():
            return 0
        removed = 0
        for folder, _, names in os.walk(self._folder):
            for name in filter(_UNFINISHED.fullmatch, names):
                path = Path(folder, name)
                if datetime.fromtimestamp(path.stat().st_mtime, UTC) < before:
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    @property
    def _folder(self) -> Path:
        return Path(self._place)

    @cached_property
    def _store(self) -> stores.ObjectStore:
        if self.scheme == "memory":
            return stores.MemoryStore()
        if self.scheme == "file":
            return stores.LocalStore(self._folder, mkdir=True)
        return self._bucket(CLIENT, RETRIES)

    @cached_property
    def _probe(self) -> stores.ObjectStore:
        return self._bucket(_PROBE, _NO_RETRIES) if self.scheme == "s3" else self._store

    def _bucket(self, client: dict[str, timedelta], retries: Any) -> stores.S3Store:
        # Plain HTTP where the operator's own address says so: a store on the same network.
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
        options: Any = {**client, "allow_http": endpoint.startswith("http://")}
        return stores.S3Store.from_url(self._url, client_options=options, retry_config=retries)

    def _flush(self, key: str) -> None:
        """A row that names the blob outlives a power cut; so must the blob, and its name."""
        if self.scheme != "file":
            return
        path = self._folder / key
        for folder in (path, path.parent):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


class _SourceError(Exception):
    """The source of a blob's bytes failed, for the reason that ``args`` holds."""


class _Meter:
    """Counts and hashes what passes."""

    def __init__(self, maximum: int | None) -> None:
        self.size = 0
        self.digest = hashlib.sha256()
        self._maximum = maximum
        self._error: Exception | None = None

    def count(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """``chunks``, up to the limit.

        Raises: TooLargeError; whatever ``chunks`` raises.
        """
        try:
            for chunk in chunks:
                self.size += len(chunk)
                if self._maximum is not None and self.size > self._maximum:
                    raise TooLargeError(f"The file has more than {self._maximum} bytes.")
                self.digest.update(chunk)
                if chunk:
                    yield chunk
        except Exception as error:
            self._error = error
            raise

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What the source of the bytes raises is no failure of the store."""
        try:
            yield
        except Exception as error:
            if self._error is not None:
                raise _SourceError(self._error) from error
            raise


def _gather(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """The bytes of the first part, and whether they are all."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= PART_BYTES:
            return b"".join(parts), False
    return b"".join(parts), True


def _pieces(first: bytes, rest: Iterator[Any]) -> Iterator[bytes]:
    if first:
        yield first
    with _answers():
        for piece in rest:
            yield bytes(piece)


def _check_key(key: str) -> None:
    if len(key) > _KEY_LENGTH or not _KEY.fullmatch(key):
        raise ValueError(f"not a key of the blob store: {key[:40]!r}")


@contextmanager
def _answers(key: str = "") -> Iterator[None]:
    """What the store refuses, as an error of ours; its own words go to the log only."""
    try:
        yield
    except _SourceError as error:
        raise error.args[0] from None
    except FileNotFoundError as error:
        if key:
            _log.error("blob missing", key=key)
        raise BlobMissingError("The content is missing from the file store.") from error
    except (OSError, exceptions.BaseError) as error:
        _log.error("file store refuses", error=str(error).partition("\n")[0][:500])
        raise ServiceUnavailableError(
            "The file store does not answer for a moment; try again.",
            headers={"Retry-After": "5"},
        ) from error
