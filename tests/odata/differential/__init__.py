"""Random queries over random rows: SQLite, PostgreSQL and plain Python must agree on every one."""
