"""Invoices as PDF/A-3: pages laid out, text shaped in every script, fonts embedded."""
