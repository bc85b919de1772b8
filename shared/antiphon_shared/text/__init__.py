"""Texts as values: words, tokens, excerpts, fences, citations and redaction. Pure."""
