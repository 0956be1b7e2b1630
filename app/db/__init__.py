"""The database: engines, the session's transaction, types and what a constraint refused."""
