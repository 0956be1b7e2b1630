"""The watch over the logs of the run finds what it is there for."""

from __future__ import annotations

import secrets

import pytest

from tests.secret_watch import SecretWatch


class Session:
    """What the watch asks of pytest's session."""

    exitstatus: int = 0


def report(text: str, issued: list[str]) -> pytest.TestReport:
    found = pytest.TestReport(
        "test", ("", None, ""), {}, "passed", None, "call", [("Captured stderr call", text)]
    )
    found.user_properties.append(("issued_secrets", issued))
    return found


@pytest.mark.requirement("SEC-137")
@pytest.mark.parametrize(
    "text",
    ["token ISSUED", "GET /s/ISSUED 200", "bpk_live_abcdefgh_" + "A" * 50, "whsec_" + "b" * 32,
     "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x." + "c" * 43, "$argon2id$v=19$m=65536",
     "password=correct horse battery staple"],
)  # fmt: skip
def test_a_secret_in_the_output_of_a_test_fails_the_run(text: str) -> None:
    issued, watch, session = secrets.token_urlsafe(33), SecretWatch(), Session()
    watch.pytest_runtest_logreport(report(text.replace("ISSUED", issued), [issued]))
    watch.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert len(watch.found) == 1
    assert session.exitstatus == 1


@pytest.mark.requirement("SEC-137")
def test_what_is_no_secret_passes() -> None:
    watch, session = SecretWatch(), Session()
    text = "GET /api/ai/sessions/ses_0123456789012345678901 200 user:7 0.3 ms 0123456789abcdef"
    watch.pytest_runtest_logreport(report(text, [secrets.token_urlsafe(33)]))
    watch.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert watch.found == []
    assert session.exitstatus == 0
