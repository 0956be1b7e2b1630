"""``GET /api/crm/search``: what was typed -> candidates of the index -> ranked, marked items."""
