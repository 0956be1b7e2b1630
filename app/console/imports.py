"""Imports of tables: a file, what its columns are, a trial, and the import.

With a script the file stays chosen between the trial and the import; without one it is chosen
again. What was said of its columns is kept: the next file with the same headings begins with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flask import Response, request

from app.console import session, wording
from app.console.area import console, page, see_other
from app.console.jobs import is_worker_late
from app.console.language import marked, translated
from app.console.sets import PAGES
from app.console.uploads import PageForm
from app.errors import ApiError, ForbiddenError
from app.http.body_stream import maximum_upload
from app.http.security import streamed
from app.importing.columns import (
    ALL_OR_NOTHING,
    IGNORE,
    REFUSE,
    SIGNS,
    SKIP_BAD,
    UPDATE_BY,
    Options,
    importable,
    plan_columns,
    properties_of,
)
from app.importing.jobs import read_job
from app.importing.named_columns import as_remembered, name_columns
from app.importing.rows import Outcome
from app.importing.submission import import_file, read_import
from app.importing.tables import ENCODINGS
from app.jobs.schedule import last_beat
from app.localisation.dates import DAY_FIRST, MONTH_FIRST

ADDRESS = f"{session.ROOT}/imports"
MODES = (
    (ALL_OR_NOTHING, marked("all rows or none")),
    (SKIP_BAD, marked("leave out rows with problems")),
)
# What decides where a file leaves a question: (field, label, (value, words), attribute).
_CHOICES = (
    (
        "decimalSign",
        marked("Decimals begin with"),
        "decimal_sign",
        tuple(zip(SIGNS, (marked("a point: 1,234.50"), marked("a comma: 1.234,50")), strict=True)),
    ),
    (
        "dateOrder",
        marked("Days are written"),
        "date_order",
        (
            (DAY_FIRST, marked("day first: 31/12/2026")),
            (MONTH_FIRST, marked("month first: 12/31/2026")),
        ),
    ),
    (
        "encoding",
        marked("Encoding of a CSV file"),
        "encoding",
        tuple((each, each) for each in ENCODINGS),
    ),
)
UNKNOWN = ((IGNORE, marked("leave them out")), (REFUSE, marked("they are problems")))
# Kind of rows -> the page of their records.
PATHS = {"client": "clients", "contact": "contacts", "lead": "leads", "product": "products"}


@dataclass(frozen=True)
class Heading:
    """A column of the file, what it was taken for, and what is wrong with it."""

    name: str
    target: str | None
    problem: str


@dataclass
class _TypedImport:
    """An import as it is asked for; ``is_named`` where its columns are those of an earlier file.

    ``typed`` are the fields as they were sent, ``options`` is None until they could be read.
    """

    typed: Mapping[str, str]
    options: Options | None = None
    names: Sequence[str] = ()
    is_named: bool = False

    @property
    def headings(self) -> list[Heading]:
        """The columns of the file, if its headings could be read."""
        return _headings(self.names, self.options) if self.options else []


@console.get("/imports")
def show_imports() -> Response:
    return _page(_TypedImport(request.args))


@console.post("/imports")
@streamed
def take_import() -> Response:
    _kinds()
    form = PageForm()
    typed_import = _TypedImport(form.typed)

    def begin(names: Sequence[str], typed: Options) -> Options:
        options = as_remembered(typed, names)
        typed_import.options, typed_import.names = options, names
        typed_import.is_named = options.mapping != typed.mapping
        return options

    try:
        with read_import(form, maximum_upload()) as (path, name, typed):
            # Where nothing was said of the columns, they are what was said of them the last time.
            typed_import.options = replace(typed, remembered=not form.is_mapped)
            outcome = import_file(path, name, typed_import.options, begin)
        if form.is_mapped:
            chosen = {
                name: to
                for name, to in typed_import.options.mapping.items()
                if name in typed_import.names
            }
            name_columns(typed_import.options.type, typed_import.names, chosen)
    except ForbiddenError:
        raise
    except ApiError as error:
        return _page(typed_import, error)
    if isinstance(outcome, int):
        return see_other(f"{ADDRESS}/{outcome}")
    return _page(typed_import, outcome=outcome)


@console.get("/imports/<int:job_id>")
def show_import(job_id: int) -> Response:
    job = read_job(job_id)
    return page(
        "import.html",
        job=job,
        path=PATHS[job.type],
        declared=PAGES[PATHS[job.type]].entity_set.type.properties,
        plural=PAGES[PATHS[job.type]].label,
        late=job.finished_at is None and is_worker_late(last_beat()),
    )


def _kinds() -> list[str]:
    """What the caller may import.

    Raises: ForbiddenError, nothing.
    """
    if kinds := importable():
        return kinds
    raise ForbiddenError(translated("Your role may import nothing."))


def _page(
    typed_import: _TypedImport, problem: ApiError | None = None, outcome: Outcome | None = None
) -> Response:
    kinds, options = _kinds(), typed_import.options
    # To find what is wrong is what a trial is for.
    is_tried = options is not None and options.dry_run
    record_type = options.type if options else typed_import.typed.get("type", "")
    kind = record_type if record_type in kinds else kinds[0]
    return page(
        "imports.html",
        200 if problem is None or is_tried else problem.status,
        kinds=kinds,
        kind=kind,
        options=options,
        typed=typed_import.typed,
        updates=UPDATE_BY,
        choices=_CHOICES,
        unknown_columns=UNKNOWN,
        modes=MODES,
        headings=typed_import.headings,
        is_named=typed_import.is_named,
        properties={name: wording.label(name) for name in sorted(properties_of(kind))},
        outcome=outcome,
        path=PATHS[kind],
        declared=PAGES[PATHS[kind]].entity_set.type.properties,
        plural=PAGES[PATHS[kind]].label,
        plural_of={each: PAGES[path].label for each, path in PATHS.items()},
        problem=problem,
    )


def _headings(names: Sequence[str], options: Options) -> list[Heading]:
    mapping = {name: target for name, target in options.mapping.items() if name in names}
    columns, problems = plan_columns(names, replace(options, mapping=mapping))
    wrong = dict(problems)
    return [
        Heading(column.heading, column.target, wrong.get(column.heading, "")) for column in columns
    ]
