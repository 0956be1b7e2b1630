"""Reads: options bound to the model, one SQL statement, the bytes of the answer."""
