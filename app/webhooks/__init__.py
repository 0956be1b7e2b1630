"""Webhooks: endpoints, their deliveries, and the journal of events."""
