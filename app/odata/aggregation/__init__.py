"""``$apply``: set transformations, each on the result of the one before (Data Aggregation 4.0)."""
