"""What the connections of each database are told; only the module of the one in use is loaded."""
