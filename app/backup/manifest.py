"""What an archive says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

FORMAT = 1
MANIFEST = "manifest.json"


class BackupError(Exception):
    """A backup or a restore that cannot be done; the message is one line for the operator."""


@dataclass(frozen=True)
class TableEntry:
    """A table: its columns, its rows, and its parts in the archive with their SHA-256."""

    columns: list[str]
    rows: int
    parts: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The contents of an archive.

    ``revision``: of the schema that the rows have. ``key_id``: public name of the key that sealed
    secrets need. ``files``: key of a file -> SHA-256; None where files were left out.
    ``last_keys``: table -> the last key that it gave, maybe to a row that was deleted since.
    """

    revision: str
    created_at: str
    key_id: str
    tables: Mapping[str, TableEntry] = field(default_factory=dict)
    files: Mapping[str, str] | None = None
    missing_files: list[str] = field(default_factory=list)
    last_keys: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT

    def dump(self) -> bytes:
        """As it stands in the archive."""
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def load(cls, text: bytes) -> Manifest:
        """Read it.

        Raises: BackupError, it is none, or one of a format that is not known here.
        """
        try:
            values: dict[str, Any] = orjson.loads(text)
            tables = {name: TableEntry(**entry) for name, entry in values.pop("tables").items()}
            manifest = cls(**values, tables=tables)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BackupError("the file is no backup of this service") from error
        if manifest.format != FORMAT:
            raise BackupError(f"the backup has format {manifest.format}; this version reads 1")
        return manifest
