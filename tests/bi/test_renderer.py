"""What the process beside draws: a picture of a chart in each form, of the data in it alone."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date

import pytest
from PIL import Image
from pypdf import PdfReader

from app.bi.exports.pdf_pages import render
from app.bi.exports.printed import Printed
from app.db.types import json_text
from app.jobs.processes import ChildProcess, FunctionFailedError
from tests.receivers import receiver

DRAW = "app.bi.renderer:render"
BARS = {
    "data": {"values": [{"name": "Acme", "due": 12}, {"name": "Beta", "due": 7}]},
    "mark": "bar",
    "encoding": {"x": {"field": "name", "type": "nominal"},
                 "y": {"field": "due", "type": "quantitative"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def beside() -> Iterator[ChildProcess]:
    process = ChildProcess()
    yield process
    process.stop()


def test_a_chart_is_drawn_as_text_and_as_pixels(beside: ChildProcess) -> None:
    spec = json_text(BARS)
    drawn = beside.call(DRAW, spec, "svg").decode()
    assert drawn.startswith("<svg") and "Acme" in drawn and "Beta" in drawn
    with Image.open(io.BytesIO(beside.call(DRAW, spec, "png"))) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 50
        assert len(picture.convert("RGB").getcolors(1_000_000) or []) > 1


def test_nothing_is_fetched_for_a_chart(beside: ChildProcess) -> None:
    with receiver() as there:
        for form in ("svg", "png"):
            spec = json_text({**BARS, "data": {"url": there.url("/rows.json")}})
            try:
                beside.call(DRAW, spec, form)
            except FunctionFailedError:
                continue
        assert there.connections == 0


def printed(rows: Sequence[tuple[str, ...]], **values: object) -> Printed:
    """A table of names and amounts."""
    given: dict[str, object] = {
        "name": "Receivables", "note": "29 November 2026", "labels": ("Client", "Due"),
        "numbers": (False, True), "rows": tuple(rows), "totals": (("", "19.00"),), "remark": None,
        "chart": None, "author": "Acme", "language": "en", "day": date(2026, 11, 29),
        "subject": "Report", "empty": "There are no rows.", "page": "Page %(number)s",
    }  # fmt: skip
    return Printed(**{**given, **values})  # type: ignore[arg-type]


def pages(table: Printed) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(render(table))).pages]


def test_the_head_is_on_every_page_and_the_sums_are_on_the_last() -> None:
    rows = [(f"Client {number}", "1.00") for number in range(100)]
    texts = pages(printed(rows, remark="Shown: 100 of 200."))
    assert len(texts) > 1
    for number, text in enumerate(texts, 1):
        assert "Client" in text and "Due" in text and f"Page {number}" in text
    assert "19.00" in texts[-1] and "Shown: 100 of 200." in texts[-1]
    assert "19.00" not in texts[0]
    for name, _ in rows:
        assert sum(f"{name} " in f"{text} ".replace("\n", " ") for text in texts) == 1, name


def test_an_empty_table_says_so_and_a_picture_stands_above_it(beside: ChildProcess) -> None:
    assert "There are no rows." in pages(printed(()))[0]
    chart = beside.call(DRAW, json_text(BARS), "png")
    (page,) = PdfReader(io.BytesIO(render(printed([("Acme", "12.00")], chart=chart)))).pages
    assert len(page.images) == 1
