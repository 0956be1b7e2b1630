"""What is measured, each by its own command."""
