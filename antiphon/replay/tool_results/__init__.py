"""The repetition of recorded calls of reading tools with today's tools, whose results are compared."""
