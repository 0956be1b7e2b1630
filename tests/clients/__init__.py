"""Clients that others wrote, unmodified, against a running service: ``make clients``.

What they need is installed once, into ``tests/clients/*/`` (ignored by git), by their own package
managers: pip and npm. They are no part of ``make test``, which needs no network.
"""
