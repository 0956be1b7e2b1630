"""SQL that SQLite and PostgreSQL spell differently, so that one query serves both to the byte."""
