"""The rig that measures beside a rival: servers end when asked, and figures are judged rightly."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bench.peers import report, workloads
from bench.peers.processes import BenchError, free_port, parent_of, serving
from bench.peers.rows import client_row, invoice_row, line_row


def figures(ours: float, peer: float, **changes: Any) -> dict[str, Any]:
    server = {"errors": 0, "rows": 50}
    return {
        "ours": {**server, "cpu_ms": [ours, ours, 99.0], **changes},
        "cap": {**server, "cpu_ms": [peer, peer, 0.1]},
    }


@pytest.mark.parametrize(
    ("ours", "passes"), [(0.24, True), (0.25, True), (0.26, False)], ids=["under", "at", "over"]
)
def test_budget_is_held_to_the_ratio_of_medians(ours: float, passes: bool) -> None:
    (line,) = report.lines({"W2": figures(ours, 1.0)}, "SQLite")
    assert line.ratio == pytest.approx(ours)
    assert line.passes is passes


def test_each_database_has_its_own_budgets() -> None:
    measured = {"W3": figures(0.7, 1.0)}
    assert not report.lines(measured, "SQLite")[0].passes
    assert report.lines(measured, "PostgreSQL")[0].passes


def test_failed_requests_fail_the_line_however_cheap() -> None:
    (line,) = report.lines({"W6": figures(0.1, 1.0, errors=3)}, "SQLite")
    assert not line.passes
    assert "ERRORS ours 3" in report.render([line], "SQLite", {"ours": 80.2})


def test_answers_of_different_length_are_no_comparison() -> None:
    (line,) = report.lines({"W1": figures(0.1, 1.0, rows=49)}, "SQLite")
    assert line.problem == "ROWS ours 49, cap 50"


def test_table_names_the_workload_and_the_verdict() -> None:
    found = report.lines({"W5": figures(0.2, 1.0)}, "SQLite")
    text = report.render(found, "SQLite", {"ours": 80.2})
    assert "W5  1000 rows, 4 fields" in text
    assert text.splitlines()[-2].endswith("pass")


def test_both_sides_are_asked_for_the_same_number_of_fields() -> None:
    for ours, peer in zip(workloads.OURS.values(), workloads.PEER.values(), strict=True):
        assert str(ours).count(",") == str(peer).count(",")


def test_rows_of_the_peers_become_rows_of_ours() -> None:
    made = datetime(2024, 5, 6, 7, 8, 9)
    client = client_row((7, "Acme", "a@b.example", "123", "Archived", 10.25, made))
    assert client["status"] == "Inactive"
    assert client["revenue"] == Decimal("10.25")
    assert client["created_at"] == made.replace(tzinfo=UTC)
    invoice = invoice_row(
        (1, 7, "INV-1", "Overdue", date(2024, 1, 1), date(2024, 1, 31), "EUR", 9.99)
    )
    assert (invoice["status"], invoice["total"]) == ("Sent", Decimal("9.99"))
    line = line_row((1, 1, 1, "Licence", 3, 2.5, 20.0, 9.0))
    assert (line["quantity"], line["line_total"]) == (Decimal(3), Decimal("9.0"))


def test_server_is_awaited_and_ended(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    with serving(
        "files", command, port=port, ready="/", folder=tmp_path, log=tmp_path / "log",
        env={}, also=(1,),
    ) as server:  # fmt: skip
        pid, also = server.roots
        assert also == 1
        assert parent_of(pid) == os.getpid()
        assert os.sched_getaffinity(pid) == {0}
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", port).connect()


def test_server_that_ends_is_told_with_its_log(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no database'); raise SystemExit(3)"]
    with pytest.raises(BenchError, match="no database"), serving(
        "broken", command, port=free_port(), ready="/", folder=tmp_path, log=tmp_path / "log",
        env={},
    ):  # fmt: skip
        pytest.fail("it never served")


def test_created_client_has_a_state_of_ours(tmp_path: Path) -> None:
    (tmp_path / "measure.py").write_text(
        "import json, sys\n"
        "class Server:\n"
        '    def request(self, w): return b\'{"status": "Archived"}\'\n'
        "def main():\n"
        "    print(json.dumps([sys.argv[1:], Server().request('W6').decode()]))\n"
        "    return 0\n"
    )
    command = [sys.executable, "-m", "bench.peers.drive", str(tmp_path), "--rounds", "1"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(finished.stdout) == [["--rounds", "1"], '{"status": "Inactive"}']
