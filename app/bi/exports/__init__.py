"""Exports of reports: rows stream from the query engine into a file, a page at a time."""
