"""Administration: users, roles, API keys, sessions and the audit log."""
