"""What a request and an answer say beside their bodies: methods, forms, preferences, tags."""
