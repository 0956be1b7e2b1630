"""``$batch``: many requests in one, in either form of the protocol (docs/adr/0024)."""
