"""Circuit breakers as values: one breaker, the table of a deployment, and the open circuits."""
