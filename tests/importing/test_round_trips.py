"""What is exported and imported again is what it was: texts, numbers, instants, in every form."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings, strategies as st

from app.bi.exports.csv_file import write_csv
from app.bi.exports.xlsx_file import write_xlsx
from app.bi.reports.definition import Column
from app.bi.reports.language import report_language
from app.db.engines import transaction
from app.db.types import iso_instant
from app.http.schema_bounds import CONTROLS
from app.http.security import acting_as, system_caller
from app.importing.columns import Options, Plan
from app.importing.tables import open_table
from app.localisation.guards import guarded, marked, unguarded
from app.settings import change_settings
from tests.contract.conftest import Api, admin, sign_in

__all__ = ["admin", "sign_in"]
COLUMNS = (
    Column("lastName", "lastName", "text"), Column("phone", "phone", "text"),
    Column("description", "description", "text"), Column("taxId", "taxId", "text"),
    Column("estimatedValue", "estimatedValue", "money"), Column("score", "score", "integer"),
    Column("consentAt", "consentAt", "instant"), Column("doNotContact", "doNotContact", "boolean"),
)  # fmt: skip
# Spreadsheets cannot keep some characters at all, and a cell without any is no value.
CHARACTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from("\n\t'=+-@;,\"")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=12) | st.sampled_from(
    ("=1+1", "'=1+1", "''", "+49 30 1234567", "-5", "@a", " a", "a ", "a\r\nb", "\na\n", "007",
     "1.234", "1e5", "_x0041_", "true", "2026-01-02", "\ufeffa")
)  # fmt: skip
# What is one line has no others anywhere (tests/contract/test_one_line.py).
LINES = TEXTS.map(lambda text: CONTROLS.sub("-", text))
MONEY = st.decimals(min_value=-(10**12), max_value=10**12, places=2) | st.decimals(
    min_value=-(10**6), max_value=10**6, places=3
)
INSTANTS = st.datetimes(datetime(1970, 1, 2), datetime(2099, 1, 1)).map(
    lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000, tzinfo=UTC)
) | st.integers(0, 240).map(
    # The hour that clocks repeat in Berlin, and what is around it.
    lambda minutes: datetime(2026, 10, 24, 23, tzinfo=UTC) + timedelta(minutes=minutes)
)  # fmt: skip
ROWS = st.lists(
    st.tuples(LINES, LINES, TEXTS, LINES, MONEY, st.integers(-100, 10**6), INSTANTS, st.booleans()),
    min_size=1, max_size=4,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round")


@pytest.fixture
def berlin(app: Flask) -> Iterator[None]:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        change_settings("defaults", {"timeZone": "Europe/Berlin"})
        yield


def exported(rows: Sequence[Sequence[Any]], path: Path, language: str = "en") -> None:
    """Write rows as a report of them is written, with a sum below."""
    shown = [
        [iso_instant(value) if isinstance(value, datetime) else value for value in row]
        for row in rows
    ]
    table: Any = SimpleNamespace(
        columns=COLUMNS, rows=lambda: iter(shown), total_rows=lambda: [["Total", *[None] * 7]],
        remark=lambda: "Truncated: the first of many.", parameters={}, made_at=datetime(2026, 1, 1),
        currency_of=lambda row: None, language=report_language(language),
        report=SimpleNamespace(name="Leads", description=None), written=len(rows), total=len(rows),
        query=SimpleNamespace(url="/odata/Leads"), charted=SimpleNamespace(result=lambda: None),
    )  # fmt: skip
    (write_xlsx if path.suffix == ".xlsx" else write_csv)(table, path)


def imported(path: Path, **said: Any) -> list[tuple[Any, ...]]:
    options = Options(type="lead", **said)
    with open_table(path, encoding=options.encoding) as table:
        plan, rows = Plan(table.headings, options), [cells for _, cells in table.rows]
    for cells in rows:
        plan.see(cells)
    read = [plan.row_values(cells) for cells in rows]
    assert [problems for _, problems in read] == [[]] * len(read)
    names = ("last_name", "phone", "description", "tax_id", "estimated_value", "score",
             "consent_at", "do_not_contact")  # fmt: skip
    return [tuple(values.get(name) for name in names) for values, _ in read]


@pytest.mark.parametrize(("suffix", "language"), [(".csv", "en"), (".csv", "de"), (".xlsx", "en")])
@settings(
    max_examples=settings().max_examples // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=ROWS)
def test_what_was_exported_is_imported_as_it_was(
    berlin: None, folder: Path, suffix: str, language: str, rows: list[tuple[Any, ...]]
) -> None:
    path = folder / f"leads-{language}{suffix}"
    exported(rows, path, language)
    assert imported(path) == rows


@pytest.mark.parametrize("language", ["en", "de"])
def test_sums_below_the_rows_are_left_out_in_any_language(
    berlin: None, folder: Path, language: str
) -> None:
    rows = [("A", None, None, None, None, 1, None, False)]
    path = folder / f"leads-{language}.xlsx"
    exported(rows, path, language)
    assert imported(path) == rows


@settings(max_examples=3 * settings().max_examples)
@given(TEXTS)
def test_every_guard_is_taken_back(text: str) -> None:
    assert unguarded(guarded(text)) == text and unguarded(marked(text)) == text
    assert guarded(text)[0] not in "=+-@\t\r\n"


@pytest.mark.parametrize(
    ("encoding", "said", "names"),
    [
        ("utf-8", None, ["Łódź", "東京", "Ελλάς"]), ("utf-8-sig", None, ["Łódź", "東京"]),
        ("utf-16", None, ["Łódź", "東京"]),
        ("cp1252", None, ["Müller", "Besançon", "O\u2019Brien"]),
        ("iso-8859-2", "iso-8859-2", ["Łódź", "Őrs", "Žižka"]),
        ("mac_roman", "macintosh", ["Müller", "Señor", "Besançon"]),
    ],
)  # fmt: skip
def test_csv_of_other_programs_is_read_as_it_was(
    berlin: None, tmp_path: Path, encoding: str, said: str | None, names: list[str]
) -> None:
    at = datetime(2026, 10, 25, 11, tzinfo=UTC)
    for sign, ending in itertools.product(",;\t|", ("\r\n", "\n", "\r")):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=sign, lineterminator=ending)
        writer.writerow(["lastName", "phone", "description", "estimatedValue", "consentAt"])
        for name in names:
            note = f"{name}\n0{sign}1"
            writer.writerow([name, "'+49 30 1", note, "-1.234,50", "25.10.2026 12:00"])
        path = tmp_path / "leads.csv"
        for first in ("", f"sep={sign}{ending}"):
            with path.open("w", encoding=encoding, newline="") as file:
                file.write(first + text.getvalue())
            assert imported(path, encoding=said) == [
                (name, "+49 30 1", f"{name}\n0{sign}1", None, Decimal("-1234.50"), None, at, None)
                for name in names
            ]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_report_that_is_imported_changes_nothing(admin: Api, form: str) -> None:
    for number, (name, phone) in enumerate(
        [
            ("=SUM(A1)", "+49 30 1234567"),
            ("'Quoted", "030 1234567"),
            ("Two  parts ", "+1 212 5550123"),
        ]
    ):
        made = {"name": name, "phone": phone, "externalId": f"00{number}", "revenue": 1234.5,
                "notes": "-\n a ", "tags": ["a b", "c"]}  # fmt: skip
        assert admin.post("/odata/Clients", made).status_code == 201
    query = "/odata/Clients?$select=name,phone,externalId,revenue,notes,tags&$orderby=id"
    report = admin.post("/api/bi/reports", {"name": "All clients", "odata": query}).json["id"]
    file = admin.post(f"/api/bi/reports/{report}/export", {"format": form}).data
    before = admin.get(query).json["value"]
    body = {"type": "client", "update": "externalId", "file": (io.BytesIO(file), f"clients.{form}")}
    answer = admin.client.post("/api/crm/import", data=body, headers=admin.headers)
    assert (answer.status_code, answer.json.get("updated"), answer.json.get("created")) == (
        200, 3, 0,
    ), answer.text  # fmt: skip
    after = admin.get(query).json["value"]
    assert [dict(each, **{"@odata.etag": ""}) for each in after] == [
        dict(each, **{"@odata.etag": ""}) for each in before
    ]
