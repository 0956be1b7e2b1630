"""A model on an OpenAI-compatible server, in place of the built-in assistant (docs/adr/0039)."""
