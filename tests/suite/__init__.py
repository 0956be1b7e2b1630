"""What the public OData suite expects of its reference model, counted (docs/conformance.md).

``python -m tests.suite`` serves the model of ``tests/reference`` and tries each expectation by
requests. They are told in our own words, by the numbers that the suite gives its sections.
"""
