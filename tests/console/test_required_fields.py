"""What a form needs and lacks is said by the page: all at once, at each field, in its language."""

from __future__ import annotations

import io
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from lxml import html

from app.auth.users import create_user
from app.console.language import msgids
from app.db.engines import transaction
from app.http.security import acting_as, system_caller
from tests.browser.company import Company
from tests.console.conftest import PASSWORD

pytestmark = pytest.mark.only_on("sqlite")

# What a browser checks by itself, one at a time and in its own language.
CHECKED_BY_BROWSERS = (
    "required", "pattern", "min", "max", "minlength", "maxlength", "novalidate", "formnovalidate",
)  # fmt: skip
CHECKED_TYPES = ("email", "url", "number")


@pytest.fixture
def company(app: Flask) -> Company:
    with app.app_context(), transaction(), acting_as(system_caller("test")):
        create_user(
            username="admin", email=None, display_name="Admin", password=PASSWORD,
            roles=["Admin"], language="de",
        )  # fmt: skip
    return Company(app, PASSWORD)


def test_what_a_form_lacks_is_said_at_each_field_in_the_language_of_the_page(
    company: Company,
) -> None:
    sent, wrong = set(), []
    for path in company.pages():
        page = html.fromstring(company.browser.get(f"/admin/{path}").text)
        for form in page.iterfind(".//form"):
            fields = {
                field.name: field
                for field in form.iter("input", "select", "textarea")
                if field.get("aria-required")
            }
            wrong += [(path, dict(field.attrib)) for field in form.iter() if is_checked(field)]
            action = str(form.get("action") or f"/admin/{path}")
            kind = (action.rstrip("0123456789"), *fields)
            if fields and kind not in sent and form.get("method") == "post":
                sent.add(kind)
                wrong += [(path, *each) for each in refusals(company, form, action, fields)]
    assert len(sent) > 20
    assert wrong == [], "\n".join(map(str, wrong))


def is_checked(field: html.HtmlElement) -> bool:
    """Whether a browser would refuse the field, or is told by the page not to."""
    return field.tag != "progress" and bool(
        {*CHECKED_BY_BROWSERS} & {*field.keys()} or field.get("type") in CHECKED_TYPES
    )


def refusals(
    company: Company, form: html.HtmlElement, action: str, fields: dict[str, html.HtmlElement]
) -> list[tuple[Any, ...]]:
    """What the answer to a form without its required fields does not say."""
    data: dict[str, Any] = dict(form.form_values())
    button = form.find(".//button[@class='main']")
    if button is not None and button.get("name"):
        data[button.get("name")] = button.get("value")
    for name, field in fields.items():
        data[name] = (io.BytesIO(b""), "") if field.get("type") == "file" else ""
    answer = company.browser.post(
        action, data=data, content_type=form.get("enctype") or "application/x-www-form-urlencoded"
    )
    again = html.fromstring(answer.text)
    missing = []
    for name in fields:
        texts = [
            " ".join(again.get_element_by_id(field.get("aria-describedby", "").split()[0])
                     .text_content().split())
            for field in again.iterfind(f".//*[@name='{name}']")
            if field.get("aria-invalid")
        ]  # fmt: skip
        if (
            answer.status_code != 400
            or not texts
            or not any(texts)
            or {*texts} & {english for _, english in msgids("de")}
        ):
            missing.append((action, answer.status_code, name, texts))
    return missing


def test_who_signs_in_is_told_what_is_missing_and_no_try_is_counted(client: FlaskClient) -> None:
    german = {"Accept-Language": "de"}
    for _ in range(10):
        answer = client.post("/admin/sign-in", data={"username": " "}, headers=german)
        page = html.fromstring(answer.text)
        assert answer.status_code == 400
        for name in ("username", "password"):
            assert page.get_element_by_id(f"{name}-p").text == "ist erforderlich"
