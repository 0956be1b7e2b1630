"""Views of imports: take a file, and give the template for one."""

from __future__ import annotations

import csv
import io
from typing import Any

from flask import Response, current_app, request

from app.body_stream import BodyStream
from app.crm.area import area
from app.crm.importing.columns import RULES, properties_of
from app.crm.importing.form import read_import
from app.crm.importing.schemas import IMPORT_BODY, OutcomeSchema, TemplateQuerySchema
from app.crm.importing.service import SKIP_BAD, Import, Options, Outcome, undo
from app.crm.importing.tables import open_table
from app.multipart import read_form
from app.security import streamed

_EXAMPLES = {
    "client": {"name": "Acme GmbH", "email": "office@acme.example", "taxId": "DE136695976"},
    "contact": {"firstName": "Ada", "lastName": "Lovelace", "email": "ada@acme.example"},
    "lead": {"company": "Globex", "lastName": "Hopper", "email": "grace@globex.example"},
}


@area.post("/import")
@area.doc(requestBody=IMPORT_BODY)
@area.response(200, OutcomeSchema)
@streamed
def import_file() -> dict[str, Any]:
    """Import clients, contacts or leads from a CSV or Excel file.

    Every row is created as by `POST /odata/Clients` and the like. All or nothing, unless `mode`
    is `skipBad`; with problems all or nothing is 400, which names row and column. `dryRun` lists
    the problems. `update` changes the record with the same `externalId` or `email`.
    """
    stream = BodyStream(current_app.config["MAX_CONTENT_LENGTH"])
    form = read_form(stream, request.mimetype, request.mimetype_params)
    maximum = int(current_app.config["MAX_UPLOAD_MB"]) * 1024 * 1024
    with read_import(form, maximum) as (path, _, options), open_table(path) as table:
        outcome = Import(table, options).within_transaction()
    if options.dry_run:
        undo()
    elif outcome.problem_count and options.mode != SKIP_BAD:
        raise outcome.refuse()
    return describe(outcome, options)


@area.get("/import/template")
@area.arguments(TemplateQuerySchema, location="query")
@area.response(200, {"type": "string"}, content_type="text/csv")
def import_template(query: dict[str, Any]) -> Response:
    """A CSV file with all columns and an example row, for spreadsheets."""
    kind = query["type"]
    names = list(properties_of(kind))
    example = _EXAMPLES[kind]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerow([example.get(name, "") for name in names])
    # The mark tells Excel that it is UTF-8.
    answer = Response("\ufeff" + text.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{RULES[kind].columns.name}.csv"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def describe(outcome: Outcome, options: Options) -> dict[str, Any]:
    """An outcome as the answer shows it."""
    kept_nothing = options.dry_run
    return {
        "type": options.type,
        "mode": options.mode,
        "dryRun": kept_nothing,
        "rows": outcome.rows,
        "created": outcome.created,
        "updated": outcome.updated,
        "skipped": outcome.skipped,
        "problems": [
            {"row": one.row, "column": one.column, "field": one.field, "message": one.message}
            for one in outcome.problems
        ],
        "problemCount": outcome.problem_count,
    }
