"""The adversarial check of tools: hostile or careless arguments, and the errors they lead to.

`cases` makes the arguments, `judge` says which of them the schema allows, `run` passes them to the tool, and
`verdict` lists the faults of the outcome.
"""
