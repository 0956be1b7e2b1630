"""Invoicing: drafts, issue, payments, credit notes."""
