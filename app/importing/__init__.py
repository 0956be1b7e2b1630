"""Bringing in records of another system: tables row by row, or all records with their history."""
