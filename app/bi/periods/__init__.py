"""Periods of time: read in words, as days."""
