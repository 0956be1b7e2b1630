"""Random documents that pass the pre-flight give XML that the official artefacts accept."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from app.invoices.document import InvoiceDocument
from app.invoices.einvoice.cii import build_cii
from app.invoices.einvoice.preflight import preflight
from app.invoices.einvoice.ubl import build_ubl
from tests.invoices.documents import documents
from tests.invoices.einvoice.validation import broken_rules, check_schema

BUILDERS = {"cii": build_cii, "ubl": build_ubl}


@pytest.mark.parametrize("syntax", BUILDERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=documents())
def test_random_documents_are_valid(syntax: str, document: InvoiceDocument) -> None:
    assert preflight(document) == ()
    xml = BUILDERS[syntax](document)
    check_schema(xml, syntax)
    assert broken_rules(xml, syntax) == []
