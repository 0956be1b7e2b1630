"""Requests and answers: who calls, how often, what bodies say, and one shape of error."""
