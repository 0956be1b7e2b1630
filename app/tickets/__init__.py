"""The help desk: tickets, their clocks and their comments."""
