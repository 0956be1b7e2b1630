"""Traces by OpenTelemetry, where the operator wants them (docs/adr/0012)."""
