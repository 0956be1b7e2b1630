"""Plans: figures and lists that compile to one OData query and to words."""
