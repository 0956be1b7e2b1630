"""What the PDF of a document costs: CPU, memory, size.

    python -m bench.pdf

Each sample is drawn several times in one process, and the best CPU time counts; fonts and colour
profile are loaded before. Memory is what Python's objects need at most while a document is drawn.
The budget: 1,000 lines in under 2 seconds.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.preflight import preflight
from app.invoices.einvoice.ubl import build_ubl
from app.invoices.pdf.render import render_facturx, render_pdf
from app.invoices.samples import sample
from tests.invoices.pdf.generated_documents import many_pages, thousand_lines

ROUNDS = 5
BUDGET_SECONDS = 2.0
FORMS: dict[str, Callable[[InvoiceDocument], bytes]] = {
    "PDF/A-3": render_pdf,
    "Factur-X": render_facturx,
    "UBL": build_ubl,
}


def measure(draw: Callable[[], bytes]) -> tuple[float, int]:
    """The CPU seconds of the best round, and the size of the file."""
    best, size = float("inf"), 0
    for _ in range(ROUNDS):
        started = time.process_time()
        size = len(draw())
        best = min(best, time.process_time() - started)
    return best, size


def peak(draw: Callable[[], bytes]) -> float:
    """Megabytes of Python's objects at most."""
    tracemalloc.start()
    draw()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1_000_000


def main() -> int:
    """Print a line a document and form; 1 when the budget is missed."""
    slowest = 0.0
    print(f"{'document':<22}{'form':<10}{'CPU ms':>9}{'KB':>8}{'peak MB':>9}")
    for document in (sample("german"), many_pages(), thousand_lines()):
        assert not preflight(document)
        for form, draw in FORMS.items():
            draw(document)
            seconds, size = measure(partial(draw, document))
            memory = peak(partial(draw, document))
            name = f"{len(document.lines)} lines"
            print(f"{name:<22}{form:<10}{seconds * 1000:>9.1f}{size / 1000:>8.0f}{memory:>9.1f}")
            slowest = max(slowest, seconds)
    verdict = "held" if slowest < BUDGET_SECONDS else "MISSED"
    print(f"budget: {BUDGET_SECONDS} s for 1,000 lines: {verdict}")
    return 0 if slowest < BUDGET_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
