"""Answers with a schema: the JSON Schema that a caller demands, and the check of a reply against it. Pure."""
