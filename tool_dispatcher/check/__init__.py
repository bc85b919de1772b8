"""The adversarial check of tools: what a careless or hostile caller may send, and what it is told.

`cases` makes the arguments, `judge` says which of them the schema allows, `run` hands them to the tool, and
`verdict` says what is wrong with the outcome.
"""
