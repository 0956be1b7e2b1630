"""Questions in plain words to OData queries: deterministic, from a vocabulary that is data."""
