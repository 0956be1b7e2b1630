"""A function of expressions is one entry of the list: it is parsed, bound, run and announced."""

from __future__ import annotations

import pytest

from app.odata.csdl.annotations import container_capabilities
from app.odata.functions import FUNCTIONS, Function, Overload
from tests.odata.reading import model
from tests.odata.reading.conftest import Client


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    """``doubled('ab')`` is ``abab``."""
    overload = Overload(("text",), "Edm.String", "({0} || {0})", "({0} || {0})")
    monkeypatch.setitem(FUNCTIONS, "doubled", Function((overload,)))


@pytest.mark.usefixtures("doubled")
def test_a_new_function_needs_one_entry(client: Client) -> None:
    first = client.get("Items?$top=1&$orderby=id&$select=id,name")["value"][0]
    wanted = first["name"] * 2
    assert first["id"] in client.values(f"Items?$filter=doubled(name) eq '{wanted}'&$select=id")
    lengths = client.values("Items?$compute=length(doubled(name)) as n&$select=n&$top=1", "n")
    assert lengths == [len(wanted)]
    announced = {
        item.term.rpartition(".")[2]: item.value for item in container_capabilities(model.CONTAINER)
    }
    assert "doubled" in announced["FilterFunctions"]


@pytest.mark.usefixtures("doubled")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("doubled(1)", "doubled does not take Edm.Int"),
        ("doubled()", "doubled takes 1 argument, 0 given"),
        ("doubble(name)", "did you mean 'doubled'?"),
    ],
)
def test_its_mistakes_are_told_like_those_of_others(
    client: Client, call: str, message: str
) -> None:
    assert message in client.refused(f"Items?$filter={call} eq 'x'")["message"]
