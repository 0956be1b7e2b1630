"""What is called beside this process: answers, errors, deaths, time and idleness."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.errors import ServiceUnavailableError
from app.invoices.document import Address, Party
from app.jobs.processes import ChildProcess, FunctionFailedError
from tests.waiting import until

BESIDE = "tests.jobs.functions"


def process_id(beside: ChildProcess) -> int:
    """What the process says of itself."""
    return int(beside.call(f"{BESIDE}:process_id"))


@pytest.fixture(scope="module")
def shared() -> Iterator[ChildProcess]:
    """One for calls that leave it as it is."""
    process = ChildProcess(seconds=20, idle_seconds=60)
    yield process
    process.stop()


@pytest.fixture
def beside() -> Iterator[ChildProcess]:
    process = ChildProcess(seconds=20, idle_seconds=20)
    yield process
    process.stop()


def test_a_call_answers_with_what_the_function_returns(shared: ChildProcess) -> None:
    assert shared.call(f"{BESIDE}:joined", b"a", b"b") == b"ab"
    assert process_id(shared) == shared.process_id != os.getpid()


def test_more_than_a_pipe_holds_goes_both_ways(shared: ChildProcess) -> None:
    content = os.urandom(3_000_000)
    assert shared.call(f"{BESIDE}:joined", content, content) == content + content


def test_what_is_printed_there_is_no_answer(shared: ChildProcess) -> None:
    assert shared.call(f"{BESIDE}:talkative") == b"answer"


def test_an_error_comes_with_its_traceback_and_the_process_stays(shared: ChildProcess) -> None:
    first = process_id(shared)
    with pytest.raises(FunctionFailedError, match=r"(?s)in failing.*ZeroDivisionError"):
        shared.call(f"{BESIDE}:failing")
    assert process_id(shared) == first


def test_a_function_that_is_not_there_is_an_error(shared: ChildProcess) -> None:
    with pytest.raises(FunctionFailedError, match="AttributeError"):
        shared.call(f"{BESIDE}:nothing_of_the_kind")


def test_an_answer_is_bytes_and_nothing_is_built_of_it(shared: ChildProcess) -> None:
    assert shared.call(f"{BESIDE}:nothing") == b""
    assert shared.call(f"{BESIDE}:pickled").startswith(b"\x80")
    with pytest.raises(FunctionFailedError, match=r"TypeError.*answers with float, not bytes"):
        shared.call(f"{BESIDE}:failing", 2)


def test_arguments_arrive_as_they_left(shared: ChildProcess) -> None:
    party = Party(name="Ärzte \ud83d \x00", address=Address(city="Köln"))
    values = (party, Decimal("1.20"), date(2026, 1, 31), [1, 2], b"\0\xff", None)
    assert shared.call(f"{BESIDE}:shown", *values) == ascii(values).encode()


def test_what_cannot_be_sent_is_refused_before_anything_is(beside: ChildProcess) -> None:
    with pytest.raises(TypeError):
        beside.call(f"{BESIDE}:shown", b"x" * 100_000, lambda: None)
    assert beside.process_id is None
    assert beside.call(f"{BESIDE}:joined", b"a", b"b") == b"ab"


def test_no_secret_is_handed_on(beside: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for others")
    monkeypatch.setenv("LANG", "C.UTF-8")
    found = json.loads(beside.call(f"{BESIDE}:environment"))
    assert "SECRET_KEY" not in found
    assert found["LANG"] == "C.UTF-8"


def test_a_process_killed_between_calls_is_replaced(beside: ChildProcess) -> None:
    first = process_id(beside)
    os.kill(first, signal.SIGKILL)
    assert process_id(beside) != first


def test_a_process_killed_in_the_middle_of_a_call_is_replaced(
    beside: ChildProcess, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(beside.call, f"{BESIDE}:slow_once", str(tmp_path / "begun"))
        until((tmp_path / "begun").exists)
        assert beside.process_id is not None
        os.kill(beside.process_id, signal.SIGKILL)
        assert answer.result(timeout=20) == b"done"


def test_a_function_that_ends_its_process_is_503_after_the_second_try(
    beside: ChildProcess, tmp_path: Path
) -> None:
    with pytest.raises(ServiceUnavailableError), capture_logs() as lines:
        beside.call(f"{BESIDE}:deadly", str(tmp_path / "tries"))
    assert [(line["event"], line["reason"]) for line in lines] == [
        ("nothing can be drawn", "its process ended twice")
    ]
    assert (tmp_path / "tries").read_text() == "xx"
    assert beside.call(f"{BESIDE}:joined", b"a", b"b") == b"ab"


def started() -> ChildProcess:
    """One that runs: on a busy machine its start takes longer than some calls may."""
    beside = ChildProcess()
    beside.call(f"{BESIDE}:joined", b"a", b"b")
    beside.seconds = 2
    return beside


def test_what_takes_too_long_is_ended_and_not_tried_again(tmp_path: Path) -> None:
    beside = started()
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError), capture_logs() as lines:
        beside.call(f"{BESIDE}:endless", str(tmp_path / "tries"))
    assert time.monotonic() - began < 6
    assert (tmp_path / "tries").read_text() == "x"
    assert [(line["event"], line["reason"]) for line in lines] == [
        ("nothing can be drawn", "no answer within 2 seconds")
    ]
    assert beside.process_id is not None
    assert not Path(f"/proc/{beside.process_id}").exists()
    beside.stop()


def test_who_waits_too_long_for_a_turn_is_told(tmp_path: Path) -> None:
    beside = started()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(beside.call, f"{BESIDE}:endless", str(tmp_path / "tries"))
        until((tmp_path / "tries").exists)
        beside.seconds = 0.1
        with pytest.raises(ServiceUnavailableError, match="Too much"):
            beside.call(f"{BESIDE}:joined", b"a", b"b")
        with pytest.raises(ServiceUnavailableError):
            first.result()
    beside.stop()


def test_many_threads_each_get_their_own_answer(shared: ChildProcess) -> None:
    def ask(number: int) -> bool:
        return shared.call(f"{BESIDE}:joined", b"%d-" % number, b"x") == b"%d-x" % number

    before = threading.active_count()
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
    until(lambda: threading.active_count() <= before + 1)  # no watch of a call is left


def test_an_idle_process_ends_and_the_next_call_starts_another() -> None:
    beside = ChildProcess(idle_seconds=0.2)
    first = process_id(beside)
    until(lambda: not is_running(first))
    assert process_id(beside) != first
    beside.stop()


def test_nothing_is_left_of_a_process_that_was_idle() -> None:
    beside = ChildProcess(idle_seconds=0.2)
    ended = Path(f"/proc/{process_id(beside)}")
    until(lambda: not ended.exists())
    beside.stop()


def test_a_process_that_cannot_be_started_is_503(
    beside: ChildProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **more: object) -> object:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(ServiceUnavailableError):
        beside.call(f"{BESIDE}:joined", b"a", b"b")
    monkeypatch.undo()
    assert beside.call(f"{BESIDE}:joined", b"a", b"b") == b"ab"


def test_without_file_handles_it_is_503_and_works_again_with_them(beside: ChildProcess) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(ServiceUnavailableError):
            beside.call(f"{BESIDE}:joined", b"a", b"b")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert beside.call(f"{BESIDE}:joined", b"a", b"b") == b"ab"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_it_ends_with_the_process_that_started_it(how: signal.Signals) -> None:
    program = (
        "import time; from app.jobs.processes import ChildProcess;"
        f"print(ChildProcess().call('{BESIDE}:process_id').decode(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        beside = int(starter.stdout.readline())
        assert Path(f"/proc/{beside}").exists()
        starter.send_signal(how)
    until(lambda: not is_running(beside))


def test_it_ends_with_a_program_that_simply_ends() -> None:
    program = (
        "from app.jobs.processes import ChildProcess;"
        f"print(ChildProcess().call('{BESIDE}:process_id').decode())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not is_running(int(done.stdout))


def is_running(process: int) -> bool:
    """Whether it runs; one that ended and that nobody has asked after does not."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
