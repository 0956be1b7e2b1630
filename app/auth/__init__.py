"""Signing in: users, sessions, tokens and API keys; who is calling, and with which rights."""
