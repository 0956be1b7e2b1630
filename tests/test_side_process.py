"""What is called beside this process: answers, errors, deaths, time and idleness."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.errors import ServiceUnavailableError
from app.side_process import SideProcess, SideProcessError
from tests.waiting import until

BESIDE = "tests.side_functions"


@pytest.fixture
def beside() -> Iterator[SideProcess]:
    process = SideProcess(seconds=20, idle_seconds=20)
    yield process
    process.stop()


def test_a_call_answers_with_what_the_function_returns(beside: SideProcess) -> None:
    assert beside.call(f"{BESIDE}:joined", "a", "b") == "ab"
    assert beside.call(f"{BESIDE}:process_id") == beside.process_id != os.getpid()


def test_more_than_a_pipe_holds_goes_both_ways(beside: SideProcess) -> None:
    content = os.urandom(3_000_000)
    assert beside.call(f"{BESIDE}:joined", content, content) == content + content


def test_what_is_printed_there_is_no_answer(beside: SideProcess) -> None:
    assert beside.call(f"{BESIDE}:talkative") == "answer"


def test_an_error_comes_with_its_traceback_and_the_process_stays(beside: SideProcess) -> None:
    first = beside.call(f"{BESIDE}:process_id")
    with pytest.raises(SideProcessError, match=r"(?s)in failing.*ZeroDivisionError"):
        beside.call(f"{BESIDE}:failing")
    assert beside.call(f"{BESIDE}:process_id") == first


def test_a_function_that_is_not_there_is_an_error(beside: SideProcess) -> None:
    with pytest.raises(SideProcessError, match="AttributeError"):
        beside.call(f"{BESIDE}:nothing_of_the_kind")


def test_no_secret_is_handed_on(beside: SideProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for others")
    monkeypatch.setenv("LANG", "C.UTF-8")
    found = beside.call(f"{BESIDE}:environment")
    assert "SECRET_KEY" not in found
    assert found["LANG"] == "C.UTF-8"


def test_a_process_killed_between_calls_is_replaced(beside: SideProcess) -> None:
    first = beside.call(f"{BESIDE}:process_id")
    os.kill(first, signal.SIGKILL)
    assert beside.call(f"{BESIDE}:process_id") != first


def test_a_process_killed_in_the_middle_of_a_call_is_replaced(
    beside: SideProcess, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(beside.call, f"{BESIDE}:slow_once", str(tmp_path / "begun"))
        until((tmp_path / "begun").exists)
        assert beside.process_id is not None
        os.kill(beside.process_id, signal.SIGKILL)
        assert answer.result(timeout=20) == "done"


def test_a_function_that_ends_its_process_is_503_after_the_second_try(
    beside: SideProcess, tmp_path: Path
) -> None:
    with pytest.raises(ServiceUnavailableError):
        beside.call(f"{BESIDE}:deadly", str(tmp_path / "tries"))
    assert (tmp_path / "tries").read_text() == "xx"
    assert beside.call(f"{BESIDE}:joined", "a", "b") == "ab"


def test_what_takes_too_long_is_ended_and_not_tried_again(tmp_path: Path) -> None:
    beside = SideProcess(seconds=2)
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError):
        beside.call(f"{BESIDE}:endless", str(tmp_path / "tries"))
    assert time.monotonic() - began < 6
    assert (tmp_path / "tries").read_text() == "x"
    assert beside.process_id is not None
    assert not Path(f"/proc/{beside.process_id}").exists()
    beside.stop()


def test_who_waits_too_long_for_a_turn_is_told(tmp_path: Path) -> None:
    beside = SideProcess(seconds=2)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(beside.call, f"{BESIDE}:endless", str(tmp_path / "tries"))
        until((tmp_path / "tries").exists)
        beside._seconds = 0.1
        with pytest.raises(ServiceUnavailableError, match="Too much"):
            beside.call(f"{BESIDE}:joined", "a", "b")
        with pytest.raises(ServiceUnavailableError):
            first.result()
    beside.stop()


def test_many_threads_each_get_their_own_answer(beside: SideProcess) -> None:
    def ask(number: int) -> bool:
        return bool(beside.call(f"{BESIDE}:joined", f"{number}-", "x") == f"{number}-x")

    before = threading.active_count()
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
    assert threading.active_count() <= before + 1  # no watch of a call is left


def test_an_idle_process_ends_and_the_next_call_starts_another() -> None:
    beside = SideProcess(idle_seconds=0.2)
    first = beside.call(f"{BESIDE}:process_id")
    assert beside._process is not None
    assert beside._process.wait(timeout=10) == 0
    assert beside.call(f"{BESIDE}:process_id") != first
    beside.stop()


def test_a_process_that_cannot_be_started_is_503(
    beside: SideProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **more: object) -> object:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(ServiceUnavailableError):
        beside.call(f"{BESIDE}:joined", "a", "b")
    monkeypatch.undo()
    assert beside.call(f"{BESIDE}:joined", "a", "b") == "ab"


def test_without_file_handles_it_is_503_and_works_again_with_them(beside: SideProcess) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(ServiceUnavailableError):
            beside.call(f"{BESIDE}:joined", "a", "b")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert beside.call(f"{BESIDE}:joined", "a", "b") == "ab"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "terminated"])
def test_it_ends_with_the_process_that_started_it(how: signal.Signals) -> None:
    program = (
        "import time; from app.side_process import SideProcess;"
        f"print(SideProcess().call('{BESIDE}:process_id'), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        beside = int(starter.stdout.readline())
        assert Path(f"/proc/{beside}").exists()
        starter.send_signal(how)
    until(lambda: not is_running(beside))


def test_it_ends_with_a_program_that_simply_ends() -> None:
    program = (
        f"from app.side_process import SideProcess;print(SideProcess().call('{BESIDE}:process_id'))"
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
