"""The adversarial check of tools: hostile or careless arguments, and the errors that they cause.

`cases` makes the arguments, `judge` decides which of them the schema allows, `run` passes them to the tool, and
`verdict` lists the faults of each outcome.
"""
