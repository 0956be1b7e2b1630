"""Outgoing mail: rows written with the change that wants them, sent by the worker (ADR 0011)."""
