"""The samples are made, and each holds its XML where the rules allow."""

from __future__ import annotations

from pathlib import Path

from facturx import get_xml_from_pdf

from app.invoices.pdf.samples import write_samples
from app.invoices.samples import NAMES


def test_every_sample_is_written(tmp_path: Path) -> None:
    paths = list(write_samples(tmp_path / "new"))
    assert [path.stem for path in paths] == list(NAMES)
    with_xml = []
    for path in paths:
        content = path.read_bytes()
        name, _ = get_xml_from_pdf(content, check_xsd=True)
        if name:
            with_xml.append(path.stem)
    assert "german" in with_xml and "draft" not in with_xml
