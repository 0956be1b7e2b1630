"""JSON: one object with the rows as objects; amounts keep their digits."""

from __future__ import annotations

from pathlib import Path

from app.bi.exports.table import ExportTable
from app.db.types import iso_instant, json_text


def write_json(table: ExportTable, path: Path) -> None:
    names = [column.name for column in table.columns]
    head = {
        "report": {"id": table.report.id, "name": table.report.name},
        "asOf": iso_instant(table.made_at),
        "parameters": table.parameters,
        "query": table.query.url,
        "columns": [
            {"name": each.name, "label": each.label, "type": each.type} for each in table.columns
        ],
        "totalRows": table.total,
        "truncated": table.is_truncated,
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(json_text(head)[:-1] + ',"rows":[')
        for at, row in enumerate(table.rows()):
            file.write(",\n" if at else "\n")
            file.write(json_text(dict(zip(names, row, strict=True))))
        file.write(
            f'\n],"totals":{json_text(table.sums.rows() if not table.is_truncated else [])}}}'
        )
