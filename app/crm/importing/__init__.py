"""Clients, contacts and leads from CSV or Excel files, written by their services."""
