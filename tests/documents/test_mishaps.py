"""What goes wrong around a file: it takes too long, or it is gone; forms and links of browsers."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.blobs import blobs
from app.documents import analysis
from app.extensions import Model
from tests.documents import samples
from tests.documents.conftest import TEXT, Files
from tests.documents.sharing.test_shares import BROWSER, PASSWORD, share, visit
from tests.documents.test_analysis import look, states


def test_a_file_that_takes_too_long_has_neither_text_nor_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "SECONDS", 0.001)
    (tmp_path / "file").write_bytes(samples.pdf())
    assert analysis.inspect(tmp_path / "file", "application/pdf") == analysis.Findings(
        "", None, is_whole=False
    )


def test_a_file_that_is_gone_from_the_store_is_given_up(
    app: Flask, files: Files, session: Session
) -> None:
    key = files.document(samples.pdf(), "turbine.pdf")
    versions = Model.metadata.tables["document_versions"]
    with app.app_context():
        blobs.current.delete(session.execute(select(versions.c.blob_key)).scalar_one())
    look(app)
    assert states(session) == ["Failed"]
    assert files.api.get(f"/api/documents/{key}/preview").status_code == 404


def test_fields_that_a_form_left_empty_say_nothing(files: Files) -> None:
    answer = files.upload(TEXT, "fox.txt", name="", clientId="", description="")
    assert answer.status_code == 201, answer.text
    assert files.api.get(f"/odata/Documents({answer.json['id']})").json["name"] == "fox.txt"


def test_a_browser_that_fetches_the_file_is_asked_for_the_password(files: Files) -> None:
    made = share(files, files.document(), password=PASSWORD)
    page = visit(files, made, "?download=true", **BROWSER)
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert 'type="password"' in page.text
    assert TEXT.decode() not in page.text
