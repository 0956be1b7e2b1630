"""The metadata of each model held against the schemas that OASIS publishes: ``make schemas``.

The schemas (edmx.xsd, edm.xsd, csdl.schema.json) come with the npm package ``odata-csdl`` of the
OData TC, and what reads XML Schema 1.1 with pip; both are installed once, beside this file (ignored
by git). That needs a network, so ``make test`` keeps to ``tests/odata/csdl/rules.py``.
"""
