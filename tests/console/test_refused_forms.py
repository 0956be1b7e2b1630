"""Forms that no page would send so: each is refused on its page, with the reason."""

from __future__ import annotations

import re

import pytest

from tests.console.conftest import PASSWORD, SignIn

SCHEDULE = {"every": "daily", "format": "csv", "time": "07:00", "to": "a@b.example"}
ENDLESS = "9" * 5000


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"every": "hourly"}, "Choose one of the offered."),
        ({"format": "exe"}, "Choose one of the offered."),
        ({"time": "25:00"}, "must be like 07:00"),
        ({"time": "soon"}, "must be like 07:00"),
        ({"time": f"{ENDLESS}:00"}, "must be like 07:00"),
        ({"to": " ; "}, "must be 1 to 20 addresses"),
        ({"every": "weekly", "weekday": "8"}, "must be a number from 1 to 7"),
        ({"every": "monthly", "day": "x"}, "must be a number from 1 to 31"),
        ({"every": "monthly", "day": ENDLESS}, "must be a number from 1 to 31"),
    ],
    ids=["how often", "format", "hour", "no time", "endless time", "nobody", "weekday", "day",
         "endless day"],
)  # fmt: skip
def test_a_schedule_is_refused_with_its_reason(
    sign_in: SignIn, given: dict[str, str], reason: str
) -> None:
    browser = sign_in("Admin")
    made = browser.submit("questions", q="How many clients are there?", name="Count")
    report = made.headers["Location"].removeprefix("/admin/")
    answer = browser.submit(f"{report}/schedule", **SCHEDULE | given)
    assert answer.status_code == 400, answer.text
    assert reason in answer.text


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"name": " "}, "Give the key a name of up to 100 characters."),
        ({"name": "x" * 101}, "Give the key a name of up to 100 characters."),
        ({"name": "Robot", "days": "never"}, "Choose one of the offered times."),
        ({"name": "Robot", "days": "9999"}, "Choose one of the offered times."),
        ({"name": "Robot", "days": ENDLESS}, "Choose one of the offered times."),
    ],
    ids=["no name", "long name", "no number", "long time", "endless time"],
)
def test_a_key_is_refused_with_its_reason(
    sign_in: SignIn, given: dict[str, str], reason: str
) -> None:
    answer = sign_in("Admin").submit("api-keys", **given)
    assert answer.status_code == 400, answer.text
    assert reason in answer.text


@pytest.mark.parametrize(
    ("path", "given", "reasons"),
    [
        ("users", {"username": "", "password": "short", "roles": "Admin"},
         ("must have at least 12 characters",)),
        ("users", {"username": "a", "email": "nobody", "password": PASSWORD, "roles": "Nobody"},
         ("must be an e-mail address", "there is no role Nobody")),
        ("users/1/change", {"displayName": "A", "email": "nobody", "roles": "Nobody"},
         ("must be an e-mail address",)),
        ("api-keys", {"name": " "}, ("Give the key a name of up to 100 characters.",)),
        ("roles/new", {"name": ""}, ("Give the role a name of up to 50 characters.",)),
        ("webhooks", {"url": "nowhere", "events": "nothing.happened"},
         ("must begin with https:// or http://",)),
        ("settings/bank", {"iban": "DE00", "bic": "x"}, ("must be a valid IBAN",)),
    ],
    ids=["password", "address and role", "change", "key", "role", "webhook", "bank"],
)  # fmt: skip
def test_what_is_wrong_is_said_once_and_at_its_field(
    sign_in: SignIn, path: str, given: dict[str, str], reasons: tuple[str, ...]
) -> None:
    answer = sign_in("Admin").submit(path, **given)
    assert answer.status_code == 400, answer.text
    for reason in reasons:
        assert len(re.findall(re.escape(reason), answer.text)) == 1, (reason, answer.text)
        assert re.search(rf'<p class="wrong"[^>]*>[^<]*{re.escape(reason)}', answer.text)
    assert "Nothing was saved yet: look at the fields that are marked." in answer.text


def test_a_step_says_what_is_wrong_once_and_stays_open(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    client = browser.make("clients", name="Acme")
    deal = browser.make("opportunities", name="Deal", clientId=str(client))
    answer = browser.submit(f"opportunities/{deal}", step="stage:ClosedWon", amount="much")
    assert answer.status_code == 400
    assert answer.text.count("must be a number") == 1
    assert 'id="stage:ClosedWon-amount-p">must be a number' in answer.text
    assert '<details class="step" open>' in answer.text


@pytest.mark.parametrize("number", [str(2**63), ENDLESS], ids=["large", "endless"])
def test_a_report_names_a_client_that_no_number_can_name(sign_in: SignIn, number: str) -> None:
    page = sign_in("Admin").get(f"reports/1?clientId={number}")
    assert page.status_code == 400, page.text
    assert "clientId" in page.text


def test_only_an_answer_with_a_name_becomes_a_report(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    question = "How many clients are there?"
    nameless = browser.submit("questions", q=question, name=" ")
    assert nameless.status_code == 400
    assert "Give the report a name of up to 200 characters." in nameless.text
    beside = browser.submit("questions", q="zzz qqq", before=question, name="Nothing")
    assert beside.status_code == 400
    assert "Only what is answered can be saved." in beside.text


def test_a_step_that_no_button_has_changes_nobody(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    for page in ("", "1"):
        answer = browser.submit("users/1", step="promote", page=page)
        assert answer.status_code == 409
        assert "This step is not known." in answer.text
