"""Words of questions and names of the data, as they are compared."""
