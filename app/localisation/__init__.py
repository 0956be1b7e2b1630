"""Numbers and dates as people write them: read where they say one thing, asked where two."""
