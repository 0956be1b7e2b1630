"""What was exported is imported into an empty database, and exported again the same."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from flask import Flask

from app.importing.export import export_records
from app.importing.history import import_records
from tests.databases import Cleaner
from tests.importing.test_history import FILE


def export(app: Flask) -> dict[str, Any]:
    out = io.StringIO()
    with app.app_context():
        export_records(out)
    exported: dict[str, Any] = json.loads(out.getvalue(), parse_float=Decimal)
    return exported


def test_round_trip_changes_nothing(app: Flask, shared_app: tuple[Flask, Cleaner]) -> None:
    with app.app_context():
        import_records(FILE)
    first = export(app)
    shared_app[1].clean()
    with app.app_context():
        import_records(first)
    assert export(app) == first


def test_export_has_what_the_file_had(app: Flask) -> None:
    with app.app_context():
        import_records(FILE)
    exported = export(app)
    client = exported["Clients"][0]
    assert client["billingAddress"] == {"city": "Hamburg", "country": "DE"}
    assert (client["number"], client["originLeadId"]) == ("C-000412", 9)
    invoice = exported["Invoices"][0]
    assert invoice["Payments"][0]["date"] == "2021-06-20"
    assert invoice["LineItems"][0]["lineNet"] == Decimal("100.00")
    assert [step["to"] for step in exported["Opportunities"][0]["StageHistory"]] == [
        "Prospecting", "ClosedWon",
    ]  # fmt: skip


def test_command_writes_the_file(app: Flask, tmp_path: Path) -> None:
    with app.app_context():
        import_records({"Clients": [{"name": "Acme"}]})
    file = tmp_path / "records.json"
    result = app.test_cli_runner().invoke(args=["export", "records", str(file)])
    assert result.exit_code == 0
    assert "Exported: 1 Clients" in result.output
    assert json.loads(file.read_text())["Clients"][0]["name"] == "Acme"
