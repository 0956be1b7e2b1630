"""Writes the sample documents as files, to be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.invoices.pdf.render import render_facturx, render_pdf
from app.invoices.samples import NAMES, sample


def write_samples(folder: Path) -> Iterator[Path]:
    """Write every sample into ``folder``, which is made if need be; yields each file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        path = folder / f"{name}.pdf"
        path.write_bytes(_render(sample(name)))
        yield path


def _render(document: InvoiceDocument) -> bytes:
    """Factur-X where the rules allow it, as the service does."""
    if document.number is None or preflight(document):
        return render_pdf(document)
    return render_facturx(document)
