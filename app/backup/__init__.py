"""Backup and restore: the whole service in one file, on either database."""
