"""Questions in plain words, understood by a chart over a typed algebra (docs/adr/0043)."""
