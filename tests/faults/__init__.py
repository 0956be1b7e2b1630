"""Faults put to a running service, one after another: ``make faults``."""
