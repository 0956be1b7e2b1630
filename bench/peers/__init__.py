"""The service beside a rival OData server, on the same rows and the same requests."""
