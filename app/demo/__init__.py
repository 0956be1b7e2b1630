"""Demonstration data: one believable year of a company that sells software, devices and support."""
