"""The description of the whole API, and the page on which it can be tried."""
