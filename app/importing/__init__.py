"""Moving in from another system: many records with their history, all of them or none."""
