"""The samples are made, and each holds its XML where the rules allow."""

from __future__ import annotations

from pathlib import Path

from facturx import get_xml_from_pdf
from flask import Flask

from app.invoices.samples import NAMES


def test_every_sample_is_written(app: Flask, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    written = app.test_cli_runner().invoke(args=["invoices", "samples", str(folder)])
    paths = [Path(line) for line in written.output.splitlines()]
    assert [path.stem for path in paths] == list(NAMES)
    with_xml = []
    for path in paths:
        content = path.read_bytes()
        name, _ = get_xml_from_pdf(content, check_xsd=True)
        if name:
            with_xml.append(path.stem)
    assert "german" in with_xml and "draft" not in with_xml
