"""Customer relations: clients, contacts, leads, opportunities."""
