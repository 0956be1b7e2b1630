"""Bodies of OData: JSON to values, and what is wrong with it."""
