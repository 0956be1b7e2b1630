"""Each figure is defined once, in ``app/container/measures.py``; every other module names it."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from app.container.measures import ALL, ISSUED, OWED
from app.container.model import container
from app.odata.model import edm
from tests.architecture.modules import APP, nodes_of, sources

# Amounts of documents and deals: whoever adds them up says what counts, and that is a definition.
_AMOUNTS = (
    "total|subtotal|taxTotal|discountTotal|amountDue|amountPaid|baseTotal|amount|baseAmount"
    "|weightedAmount|lineNet|lineTotal"
)
_COLUMNS = (
    "total|subtotal|tax_total|amount_due|amount_paid|base_total|amount|base_amount|weighted_amount"
)
_SUMMED = re.compile(rf"\b(?:{_AMOUNTS}) with (?:sum|average)\b")


def test_no_other_module_adds_up_amounts() -> None:
    sums = []
    for name, tree in sources().items():
        if name.startswith("app.odata."):
            continue  # the engine adds up what it is asked for
        for node in nodes_of(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if _SUMMED.search(node.value):
                    sums.append(f"{name}:{node.lineno}")
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "func.sum":
                column = ast.unparse(node.args[0]).rpartition(".")[2]
                if re.fullmatch(_COLUMNS, column):
                    sums.append(f"{name}:{node.lineno}")
    assert sums == []


@pytest.mark.parametrize("path", sorted(APP.rglob("*.toml")), ids=lambda path: path.stem)
def test_no_file_of_queries_adds_up_amounts(path: Path) -> None:
    assert _SUMMED.findall(path.read_text(encoding="utf-8")) == []


def test_a_word_for_such_an_amount_names_a_measure() -> None:
    """What is paid of invoices so far and their discounts are figures of questions alone."""
    data = tomllib.loads((APP / "bi/questions/model.toml").read_text(encoding="utf-8"))
    private = []
    for kind, entity in data.items():
        for measure in entity.get("measures", {}).values():
            names = re.findall(rf"\b(?:{_AMOUNTS})\b", measure.get("value", ""))
            if set(names) - {"amountPaid", "discountTotal"}:
                private.append((kind, measure))
    assert private == []


def test_what_is_issued_and_what_is_owed_are_said_in_one_module() -> None:
    """As conditions of a query; the vocabularies say which words mean such a state."""
    conditions = [
        f"{name}:{node.lineno}"
        for name, tree in sources().items()
        for node in nodes_of(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (ISSUED in node.value or OWED in node.value)
        and name != "app.container.measures"
    ]
    assert conditions == []
    reports = (APP / "bi/reports/builtin.toml").read_text(encoding="utf-8")
    assert ISSUED not in reports and OWED not in reports


def test_every_measure_is_a_custom_aggregate_that_says_what_it_counts() -> None:
    """A label says of an amount of invoices whether it is net or gross."""
    for measure in ALL:
        type_ = container().types[measure.of]
        assert measure.name in type_.aggregates
        assert (measure.base_name in type_.aggregates) == measure.is_money
        assert measure.description.endswith(".")
        if measure.of == "Invoice" and measure.name not in ("Tax", "CreditedTax"):
            assert re.search(r"\b(?:[Nn]et|[Gg]ross)\b", measure.label), measure.name
        parent, _, date = measure.date.rpartition("/")
        if date:
            dated = container().types[parent] if parent else type_
            assert isinstance(dated.properties[date].type, edm.PrimitiveType)
