"""``$metadata``: the model in XML and in JSON."""
