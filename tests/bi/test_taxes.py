"""Tax, lines of invoices, credit notes, payments taken back and receivables by age."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from tests.bi.conftest import Ask


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("vat charged this year, split by rate", ("line/taxRate", "true:line/tax)")),
        ("revenue by tax rate", ("line/taxRate", "true:line/taxable)")),
        ("output VAT this year", ("type eq 'CreditNote':-taxTotal,true:taxTotal",)),
        ("vat on credit notes this year", ("taxTotal with sum", "type eq 'CreditNote'")),
        ("net total of credit notes", ("total sub taxTotal", "type eq 'CreditNote'")),
        ("reverse charge invoices", ("LineItems/any(l:l/taxCategory eq 'AE')",)),
        ("tax free invoices to Germany", ("taxTotal eq 0", "country eq 'DE'")),
        ("credit notes without VAT by country", ("not (taxTotal gt 0)", "type eq 'CreditNote'")),
        ("how many lines does an invoice have on average", ("LineItems/$count", "with average")),
        ("invoices with more than 5 lines", ("(LineItems/$count add 0) gt 5",)),
        ("reversed payments this year", ("payment/status eq 'Reversed'",)),
        ("ten largest invoices with the tax id of the customer", ("taxId", "$top=10")),
        ("clients with a credit balance", ("creditBalance gt 0",)),
        ("who has a credit balance with us", ("creditBalance gt 0",)),
    ],
)  # fmt: skip
def test_what_is_asked_of_tax_and_lines(ask: Ask, question: str, parts: tuple[str, ...]) -> None:
    answer = ask(question)
    assert answer["status"] == "answered", answer["answer"]
    for part in parts:
        assert part in unquote(answer["query"]["odata"])


def test_payments_taken_back_do_not_have_to_be_completed(ask: Ask) -> None:
    assert "Completed" not in ask("reversed payments")["query"]["odata"]
    assert "Completed" not in ask("payments by status")["query"]["odata"]
    assert "left out" not in ask("payments by status")["interpretation"]
    assert "Completed" in ask("payments by method")["query"]["odata"]


@pytest.mark.parametrize(
    "question",
    ["total billed this month, net and gross", "net and gross revenue this month",
     "sales to Germany this year, net and gross"],
)  # fmt: skip
def test_net_and_gross_are_two_figures(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert "total sub taxTotal" in unquote(answer["query"]["odata"])
    labels = " ".join(column["label"] for column in answer["columns"]).lower()
    assert "net " in labels and "gross " in labels


def test_a_question_without_records_is_asked_of_others_that_follow(ask: Ask) -> None:
    first = ask("output VAT this year")
    later = ask("and on credit notes in the same period", sessionId=first["sessionId"])
    assert "type eq 'CreditNote'" in unquote(later["query"]["odata"])
    assert "issueDate ge" in unquote(later["query"]["odata"])
