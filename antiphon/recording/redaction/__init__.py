"""What must not leave: taken out of recordings as they are written, and looked for in those that are."""
