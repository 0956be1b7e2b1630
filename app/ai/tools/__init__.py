"""The changes that the assistant can propose, made from what is declared (docs/adr/0049)."""
