"""Hold CSDL documents against the schemas of OASIS; runs in an environment of its own.

``python check.py SCHEMAS FILE...`` prints a line for each document: ``NAME<tab>NUMBER<tab>FIRST``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import xmlschema

# The patterns of names have classes of Unicode, which need more room than a regex has by default.
REGEX_BYTES = 1 << 28


def main(schemas: Path, documents: list[Path]) -> None:
    # edmx.xsd says that it is XML Schema 1.1: "all" has elements that may occur often.
    xml = xmlschema.XMLSchema11(str(schemas / "edmx.xsd"))
    text = json.loads((schemas / "csdl.schema.json").read_text(encoding="utf-8"))
    options = jsonschema_rs.RegexOptions(size_limit=REGEX_BYTES)
    csdl_json = jsonschema_rs.Draft7Validator(text, pattern_options=options)
    for document in documents:
        problems = list(
            _of_xml(xml, document) if document.suffix == ".xml" else _of_json(csdl_json, document)
        )
        print(document.name, len(problems), problems[0] if problems else "", sep="\t")


def _of_xml(schema: xmlschema.XMLSchema11, document: Path) -> Iterator[str]:
    for error in schema.iter_errors(str(document)):
        yield f"{_short(error.path or '')}: {_short(' '.join(str(error.reason).split()))}"


def _short(text: str) -> str:
    """Without the namespaces in front of the names."""
    return re.sub(r"\{[^}]*\}|\bedmx?:", "", text)


def _of_json(schema: jsonschema_rs.Draft7Validator, document: Path) -> Iterator[str]:
    for error in schema.iter_errors(json.loads(document.read_bytes())):
        yield f"{'/'.join(map(str, error.instance_path))}: {' '.join(error.message.split())[:300]}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
