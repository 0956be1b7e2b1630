"""The HTTP edge: who calls, how often, one transaction a request, one shape of error."""
