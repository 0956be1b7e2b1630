"""The EntityContainer of the business: its types by area, and reading through the engine."""
