"""Settings of the organisation in the console: forms, problems at fields, nobody overwritten."""

from __future__ import annotations

import io
import re

import pytest
from flask import Flask
from PIL import Image

from app.console.settings import TABS
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from app.settings import organisation, save_settings
from tests.console.conftest import Browser, SignIn

VERSION = re.compile(r'name="version" value="([^"]+)"')
FIELD = re.compile(r'<(?:input|textarea)[^>]* name="([^"]+)"[^>]* value="([^"]*)"')


def fill(browser: Browser, group: str, **changes: str) -> dict[str, str]:
    """The form of a group as a browser would send it, some fields typed over."""
    text = browser.get(f"settings/{group}").text
    fields = {name: value for name, value in FIELD.findall(text) if name not in ("csrf", "q")}
    chosen = re.search(r'name="timeZone".*?value="([^"]+)" selected', text, re.DOTALL)
    zone = {"timeZone": chosen[1]} if chosen else {}
    return {**fields, **zone, **changes}


@pytest.mark.parametrize("group", [name for name, _ in TABS])
def test_every_group_has_a_page(sign_in: SignIn, group: str) -> None:
    assert sign_in("Admin").get(f"settings/{group}").status_code == 200


def test_what_is_changed_is_saved_and_the_rest_stays(sign_in: SignIn, app: Flask) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "seller", name="Acme", city="Ulm")
    assert browser.submit("settings/seller", **form).status_code == 303
    zone = fill(browser, "defaults", timeZone="Europe/Berlin", taxRate="7.5")
    assert browser.submit("settings/defaults", **zone).status_code == 303
    with app.app_context(), transaction():
        found = organisation()
    assert (found.seller.name, found.seller.city) == ("Acme", "Ulm")
    assert (found.defaults.time_zone, str(found.defaults.tax_rate)) == ("Europe/Berlin", "7.5")
    assert "Saved." in browser.get("settings/seller").text


def test_whole_numbers_lists_and_switches_are_saved_as_what_they_are(
    sign_in: SignIn, app: Flask
) -> None:
    browser = sign_in("Admin")
    hours = {"firstResponseHours.High": "6", "autoCloseDays": "10"}
    for group, changes in {
        "defaults": {"fiscalYearStart": "4"},
        "serviceLevel": hours,
        "reminders": {"steps": "-5, 2,20"},  # and the switch is off: no browser sends that
        "invoicing": {"publicPage": "true", "creditNoteSeries": "CN"},
    }.items():
        form = fill(browser, group, **changes)
        if group == "reminders":
            assert form.pop("enabled") == "true"
        assert browser.submit(f"settings/{group}", **form).status_code == 303, group
    with app.app_context(), transaction():
        found = organisation()
    assert found.defaults.fiscal_year_start == 4
    assert found.service_level.first_response_hours["High"] == 6
    assert found.service_level.first_response_hours["Urgent"] == 1
    assert found.service_level.auto_close_days == 10
    assert (found.reminders.enabled, found.reminders.steps) == (False, (-5, 2, 20))
    assert (found.invoicing.public_page, found.invoicing.credit_note_series) == (True, "CN")
    (switch,) = re.findall(
        '<input[^>]*name="enabled"[^>]*>', browser.get("settings/reminders").text
    )
    assert "checked" not in switch
    blank = fill(browser, "invoicing", creditNoteSeries="")
    assert browser.submit("settings/invoicing", **blank).status_code == 303
    with app.app_context(), transaction():
        assert organisation().invoicing.credit_note_series is None


def test_numbers_are_typed_with_a_comma_or_a_point(sign_in: SignIn, app: Flask) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "defaults", taxRate="7,5")
    assert browser.submit("settings/defaults", **form).status_code == 303
    rates = fill(browser, "exchangeRates", code="USD", rate="0,92")
    assert browser.submit("settings/exchangeRates", **rates).status_code == 303
    with app.app_context(), transaction():
        found = organisation()
    assert str(found.defaults.tax_rate) == "7.5"
    assert str(found.exchange_rate("USD")) == "0.92"
    wrong = browser.submit("settings/defaults", **fill(browser, "defaults", taxRate="a lot"))
    assert wrong.status_code == 400 and 'value="a lot"' in wrong.text


@pytest.mark.parametrize(
    ("group", "field", "value", "message"),
    [("bank", "iban", "DE00", "must be a valid IBAN"), ("seller", "email", "nobody", "must be"),
     ("defaults", "fiscalYearStart", "13", "must be between 1 and 12"),
     ("serviceLevel", "firstResponseHours.High", "soon", "must be a whole number"),
     ("reminders", "steps", "3, x", "must be a whole number")],
    ids=["iban", "email", "month", "hours", "days"],
)  # fmt: skip
def test_a_value_that_is_refused_is_said_at_its_field(
    sign_in: SignIn, group: str, field: str, value: str, message: str
) -> None:
    browser = sign_in("Admin")
    answer = browser.submit(f"settings/{group}", **fill(browser, group, **{field: value}))
    assert answer.status_code == 400
    assert f'id="f-{field.replace(".", "-")}-p">{message}' in answer.text
    assert f'value="{value}"' in answer.text


def test_all_that_is_wrong_is_said_at_once(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "defaults", taxRate="a lot", fiscalYearStart="13", currency="Euro")
    answer = browser.submit("settings/defaults", **form)
    assert answer.status_code == 400
    for field, value, message in (
        ("taxRate", "a lot", "must be a number"),
        ("fiscalYearStart", "13", "must be between 1 and 12"),
        ("currency", "Euro", "must have at most 3 characters"),
    ):
        assert f'id="f-{field}-p">{message}' in answer.text, field
        assert f'value="{value}"' in answer.text
        assert answer.text.count(message) == 1, field
    assert "Nothing was saved yet: look at the fields that are marked." in answer.text


def test_every_rate_that_is_refused_is_said_in_its_row(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    codes = ["usd", "GBP", "USD", "CHF", "", "Yen", ""]
    rates = ["0.92", "many", "0.93", "", "1.1", "160", ""]
    answer = browser.submit("settings/exchangeRates", code=codes, rate=rates)
    assert answer.status_code == 400
    said = dict(re.findall(r'id="rate-(\d)-p">([^<]+)', answer.text))
    both = "A row needs a currency and its rate; empty both to take it away."
    assert said == {
        "2": "must be a number",
        "3": "Another row has this currency already.",
        "4": both,
        "5": both,
        "6": "must be a currency code of ISO 4217 such as EUR",
    }
    assert 'value="many"' in answer.text and 'value="1.1"' in answer.text
    version = VERSION.search(answer.text)
    assert version is not None
    kept = browser.submit("settings/exchangeRates", version=version[1], code="usd", rate="0.92")
    assert kept.status_code == 303
    assert 'value="USD"' in browser.get("settings/exchangeRates").text


def test_nobody_overwrites_what_another_saved_meanwhile(sign_in: SignIn, app: Flask) -> None:
    browser = sign_in("Admin")
    form = fill(browser, "seller", name="Late")
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        save_settings("seller", {"name": "First"})
    answer = browser.submit("settings/seller", **form)
    assert answer.status_code == 412
    assert "changed by somebody else" in answer.text and 'value="Late"' in answer.text
    assert 'value="First"' in browser.get("settings/seller").text


def test_rates_are_added_and_taken_away(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    version = VERSION.search(browser.get("settings/exchangeRates").text)
    assert version is not None
    sent = browser.submit(
        "settings/exchangeRates", version=version[1], code=["USD", "GBP", ""],
        rate=["0.92", "1.15", ""],
    )  # fmt: skip
    assert sent.status_code == 303
    page = browser.get("settings/exchangeRates").text
    assert 'value="USD"' in page and 'value="1.15"' in page
    version = VERSION.search(page)
    assert version is not None
    wrong = browser.submit("settings/exchangeRates", version=version[1], code="USD", rate="-1")
    assert wrong.status_code == 400 and 'value="-1"' in wrong.text


def test_a_template_is_tried_and_saved(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    version = VERSION.search(browser.get("settings/templates").text)
    assert version is not None
    form = {"kind": "invoice", "language": "en", "version": version[1], "message": "Hello {client}"}
    tried = browser.submit("settings/templates", **form, subject="Bill {number}", step="preview")
    assert tried.status_code == 200 and "Bill INV-2026-00007" in tried.text
    wrong = browser.submit("settings/templates", **form, subject="Bill {nothing}")
    assert wrong.status_code == 400 and "{nothing}" in wrong.text
    assert browser.submit("settings/templates", **form, subject="Bill {number}").status_code == 303
    assert 'value="Bill {number}"' in browser.get("settings/templates").text
    assert 'value="Bill {number}"' not in browser.get("settings/templates?language=de").text


def test_a_logo_is_uploaded_shown_and_removed(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    picture = io.BytesIO()
    Image.new("RGB", (60, 30), "navy").save(picture, "PNG")
    picture.seek(0)
    sent = browser.submit("settings/logo", file=(picture, "logo.png"))
    assert sent.status_code == 303
    assert "30 pixels" in browser.get("settings/logo").text
    assert browser.get("settings/logo/picture").data.startswith(b"\x89PNG")
    text = browser.submit("settings/logo", file=(io.BytesIO(b"no picture"), "logo.png"))
    assert text.status_code == 415 and "must be a PNG or JPEG" in text.text
    assert browser.submit("settings/logo", step="remove").status_code == 303
    assert browser.get("settings/logo/picture").status_code == 404


@pytest.mark.parametrize("role", ["Manager", "Viewer"])
def test_only_who_may_read_settings_sees_them(sign_in: SignIn, role: str) -> None:
    browser = sign_in(role)
    assert "/admin/settings" not in browser.get("").text
    for path in ("settings/seller", "settings/logo", "settings/templates", "settings/logo/picture"):
        assert browser.get(path).status_code == 403
    for path in ("settings/seller", "settings/logo", "settings/templates"):
        assert browser.submit(path, name="Mine").status_code == 403


def test_there_is_no_other_group(sign_in: SignIn) -> None:
    browser = sign_in("Admin")
    assert browser.get("settings/nothing").status_code == 404
    assert browser.submit("settings/nothing", name="x").status_code == 404
