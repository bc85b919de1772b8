"""The tool dispatcher: runs one batch of tool calls, and answers each of them, whatever happens.

Consumes `tools.requested`; emits `tools.completed`. Publishes the catalogue of its tools.
"""
