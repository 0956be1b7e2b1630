"""The frame of a fault: people work, something breaks, it is mended, they work on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.bed import Bed
from tests.faults.results import Report
from tests.faults.traffic import Ledger, traffic

BEFORE_SECONDS = 2


@dataclass
class Scene:
    """What came of the work, and when what had broken was there again (monotonic)."""

    bed: Bed
    report: Report
    ledger: Ledger
    back_at: float = 0.0

    def check_bounded(self, within: float) -> None:
        """Errors are 503, in time and soon over; nothing is lost."""
        self.report.check_answers(self.ledger, within=within, back_at=self.back_at)
        self.bed.check_kept(self.report, self.ledger)

    def check_unnoticed(self, within: float) -> None:
        """No request fails or waits for long; nothing is lost."""
        self.report.check_no_errors(self.ledger)
        self.report.check_in_time(self.ledger, within)
        self.bed.check_kept(self.report, self.ledger)


@contextmanager
def under_load(bed: Bed, report: Report, *, after: float) -> Iterator[Scene]:
    """Work goes on around the fault, two seconds before it and ``after`` seconds after."""
    with traffic(bed.port, bed.key) as ledger:
        time.sleep(BEFORE_SECONDS)
        scene = Scene(bed, report, ledger)
        yield scene
        scene.back_at = time.monotonic()
        time.sleep(after)
