"""Rate limits: requests of a principal or an address in a moving window (contract P11)."""
