"""Figures: questions in plain words, reports and their exports; each is an OData query."""
