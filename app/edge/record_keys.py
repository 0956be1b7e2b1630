"""Keys of records in addresses: whole numbers that both databases can hold."""

from __future__ import annotations

from werkzeug.routing import IntegerConverter, Map

LARGEST_KEY = 2**63 - 1


class RecordKey(IntegerConverter):
    """``<int:...>`` in plain digits, as it is written in answers; what no key can be is 404."""

    regex = r"0|[1-9][0-9]{0,18}"

    def __init__(self, url_map: Map) -> None:
        super().__init__(url_map, max=LARGEST_KEY)
