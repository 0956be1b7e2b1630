"""The reference model of the public OData compliance suite, served by app/odata alone.

It is another model than that of the business, with its own tables: what works here works because
the engine is general. ``python -m tests.reference`` (``make reference``) serves it.
"""
