"""What runs beside the requests: rows of work, jobs by the clock, and processes of their own."""
