"""Names and types of a query resolved against the model: what it means, as typed SQL."""
