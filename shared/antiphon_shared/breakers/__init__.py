"""Circuit breakers as values: one breaker, the table of a deployment, and what is out of order."""
