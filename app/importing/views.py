"""Views of imports: take a file, and give the template for one."""

from __future__ import annotations

import csv
import io
from typing import Any

from flask import Response, current_app, request

from app.crm.area import area
from app.db import records
from app.db.types import json_text
from app.http.body_stream import BodyStream, maximum_upload
from app.http.multipart import read_form
from app.http.schema_parts import answer_body
from app.http.security import current_caller, streamed
from app.importing.columns import FULL_NAME, RULES, Options, importable, properties_of
from app.importing.jobs import read_job
from app.importing.rows import Outcome
from app.importing.schemas import (
    IMPORT_BODY,
    JobSchema,
    OutcomeSchema,
    TemplateQuerySchema,
)
from app.importing.submission import import_file as take_file, read_import
from app.models.import_job import ImportJob
from app.permissions import require

_EXAMPLES = {
    "client": {"name": "Acme GmbH", "email": "office@acme.example", "taxId": "DE136695976"},
    "contact": {"firstName": "Ada", "lastName": "Lovelace", "email": "ada@acme.example"},
    "lead": {"company": "Globex", "lastName": "Hopper", "email": "grace@globex.example"},
    "product": {"sku": "SRV-CON", "name": "Consulting", "unitCode": "HUR", "unitPrice": "128.00"},
}


@area.post("/import")
@area.doc(requestBody=IMPORT_BODY)
@area.response(200, OutcomeSchema)
@area.alt_response(202, schema=JobSchema, description="Imported by the worker.", success=True)
@streamed
def import_file() -> Any:
    """Import clients, contacts, leads or products from a CSV or Excel file.

    Every row is created as by `POST /odata/Clients` and the like. All or nothing, unless `mode`
    is `skipBad`; with problems all or nothing is 400, which names row and column. `dryRun` lists
    the problems. `update` changes the record with the same `externalId`, `email` or `sku`. All
    cells of a column decide how its numbers and dates are written, and `columns` says it; what
    could be two is a problem, until `decimalSign` or `dateOrder` says which. A file of more than
    1,000 rows is 202: the worker imports it, and `Location` says how far it is.
    """
    if not importable():  # before anything is read
        require(current_caller(), RULES["client"].permissions["create"])
    stream = BodyStream(current_app.config["MAX_CONTENT_LENGTH"])
    form = read_form(stream, request.mimetype, request.mimetype_params)
    with read_import(form, maximum_upload()) as (path, name, options):
        outcome = take_file(path, name, options)
    if isinstance(outcome, int):
        return _queued(outcome)
    return describe(outcome, options)


def _queued(job_id: int) -> Response:
    """The answer for a file that the worker imports."""
    job = records.get(ImportJob, job_id)
    answer = Response(json_text(describe_job(job)), 202, content_type="application/json")
    answer.headers["Location"] = f"/api/v1/crm/import/{job_id}"
    return answer


@area.get("/import/<int:job_id>")
@area.response(200, JobSchema)
def import_progress(job_id: int) -> dict[str, Any]:
    """How far an import of yours is, and what came of it."""
    return describe_job(read_job(job_id))


@area.get("/import/template")
@area.arguments(TemplateQuerySchema, location="query")
@area.response(200, {"type": "string"}, content_type="text/csv")
def import_template(query: dict[str, Any]) -> Response:
    """A CSV file with all columns and an example row, for spreadsheets."""
    kind = query["type"]
    names = [name for name in properties_of(kind) if name != FULL_NAME]
    example = _EXAMPLES[kind]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerow([example.get(name, "") for name in names])
    # The mark tells Excel that it is UTF-8.
    answer = Response("\ufeff" + text.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{RULES[kind].table.name}.csv"
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def describe(outcome: Outcome, options: Options) -> dict[str, Any]:
    return answer_body(OutcomeSchema, options, **vars(outcome))


def describe_job(row: ImportJob) -> dict[str, Any]:
    return answer_body(JobSchema, row, mode=row.options["mode"], dry_run=row.options["dryRun"])
