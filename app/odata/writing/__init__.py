"""Writes in every form of OData, taken apart into calls of the services."""
