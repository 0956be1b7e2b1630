"""Actions and functions of the model, called by their addresses (Protocol 11.5)."""
