"""Answers with a shape: the JSON Schema that a caller demands, and how a reply is held against it. Pure."""
