"""The one way to other hosts whose address somebody else chose (docs/adr/0010)."""
