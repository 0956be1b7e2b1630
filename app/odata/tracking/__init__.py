"""Change tracking: delta links, so that a client keeps a copy in step (docs/adr/0020)."""
