"""``make run`` and the release step: from a clean clone to a service that answers."""
