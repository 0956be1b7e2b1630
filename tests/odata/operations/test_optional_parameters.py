"""Parameters that may be left out: null means the same, and the metadata says so."""

from __future__ import annotations

from app.odata.csdl.elements import may_be_null
from app.odata.model import edm
from app.odata.operations.calls import Operations, url_arguments
from app.odata.syntax.options import read_options

COUNT = edm.Parameter(name="count", type=edm.INT32, nullable=False, optional=True)
NAME = edm.Parameter(name="name", type=edm.STRING, nullable=False)
OPERATION = edm.Operation(
    name="Find", is_action=False, handler=dict, parameters=(NAME, COUNT), returns=edm.INT32,
    import_name="Find",
)  # fmt: skip
CONTAINER = edm.EntityContainer(
    namespace="Shop", name="Container", sets={}, types={}, operations=(OPERATION,)
)


def test_null_is_allowed_for_what_may_be_left_out() -> None:
    assert may_be_null(COUNT)
    assert not may_be_null(NAME)


def test_null_is_as_if_nothing_was_given() -> None:
    call = Operations(CONTAINER).find("Find(name='x',count=null)")
    assert call is not None
    _, values = url_arguments(call, read_options(""))
    assert values == {"name": "x"}
