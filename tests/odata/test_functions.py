"""The list of functions: each that is offered has a value, and the documentation shows all."""

from __future__ import annotations

import pytest

from app.odata.binding.calls import BY_CODE
from app.odata.functions import FUNCTIONS, OWN_SYNTAX
from tests.architecture.modules import ROOT


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_is_offered_has_sql_or_code(name: str) -> None:
    function = FUNCTIONS[name]
    of_values = [
        overload for overload in function.overloads if "collection" not in overload.parameters
    ]
    has_sql = {bool(overload.sqlite and overload.postgresql) for overload in of_values}
    by_code = function.is_offered and name in BY_CODE
    assert has_sql <= {function.is_offered and not by_code}


def test_code_is_of_functions_in_the_list() -> None:
    assert set(BY_CODE) <= set(FUNCTIONS) and not set(OWN_SYNTAX) & set(FUNCTIONS)


def row(name: str) -> str:
    overloads = FUNCTIONS[name].overloads
    calls = ", ".join(f"`{name}({', '.join(overload.parameters)})`" for overload in overloads)
    results = dict.fromkeys(f"`{overload.result}`" for overload in overloads)
    return f"| {calls} | {', '.join(results)} |"


def test_the_documentation_has_every_function() -> None:
    lines = (ROOT / "docs" / "odata.md").read_text(encoding="utf-8").splitlines()
    begin = lines.index("| Function | Result |") + 2
    offered = [row(name) for name, function in FUNCTIONS.items() if function.is_offered]
    assert lines[begin : begin + len(offered)] == offered
    assert not lines[begin + len(offered)]
