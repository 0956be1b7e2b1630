"""The programs on docs/clients.md, ready to be run: ``root`` and ``key`` come before each."""

from __future__ import annotations

import re

from tests.architecture.modules import ROOT

# Every program looks for this client, which the service under test has, and prints its name.
SOUGHT = "Acme"

_BLOCK = re.compile(r"^```(python|js)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GIVEN = {
    "python": """import os

root, key = os.environ["SERVICE_ROOT"], os.environ["API_KEY"]
""",
    "js": "const { SERVICE_ROOT: root, API_KEY: key } = process.env;\n",
}


def programs(language: str) -> list[str]:
    """Those in ``python`` or ``js``; what stands in a page of OpenUI5 is no program by itself."""
    text = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    return [
        _GIVEN[language] + program
        for kind, program in _BLOCK.findall(text)
        if kind == language and "sap.ui" not in program
    ]
