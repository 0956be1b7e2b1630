"""The peers' ``measure.py``, whose rows suit both and whose changes are changes.

The state of a created client is one of ours, too, and addresses are those of this run:
``measure.py`` counts from one in each run, so that over rows that are kept a change would often
give a client the address that it has already.

    python -m bench.peers.drive PEERS_DIR --server ... (the options of measure.py)

It runs as a process of its own, because it pins itself to a core.
"""

from __future__ import annotations

import random
import string
import sys
from pathlib import Path

from bench.peers.rows import load_module

PEER_STATE = b'"Archived"'
OUR_STATE = b'"Inactive"'  # of the same length, so that Content-Length stays right
HOST = b"@measure"


def main() -> int:
    """Measure; the exit status is 1 if a request failed."""
    folder = Path(sys.argv.pop(1))
    measure = load_module(folder / "measure.py")
    host = "".join(random.choices(string.ascii_lowercase, k=len(HOST) - 1)).encode()
    original = measure.Server.request

    def request(server: object, workload: str) -> bytes:
        content: bytes = original(server, workload)
        return content.replace(PEER_STATE, OUR_STATE).replace(HOST, b"@" + host)

    measure.Server.request = request
    return int(measure.main())


if __name__ == "__main__":
    sys.exit(main())
