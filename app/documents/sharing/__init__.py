"""Public links to documents: made, used and revoked."""
