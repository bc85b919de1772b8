"""The repetition of recorded calls of reading tools with today's tools, and the comparison of the results."""
