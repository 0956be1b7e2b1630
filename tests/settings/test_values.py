"""What a single setting may be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from marshmallow import ValidationError

from app.settings.values import Exact


def test_a_number_is_kept_as_it_is_written() -> None:
    assert str(Exact(8).deserialize(Decimal("0.92"))) == "0.92"


@pytest.mark.parametrize("value", [Decimal("0.123"), True, "0.9", Decimal("NaN")])
def test_what_is_no_number_of_so_many_decimals_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        Exact(2).deserialize(value)
