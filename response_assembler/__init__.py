"""The response assembler, which composes every session's one answer, complete or partial, without a model.

Consumes assembly.requested. Emits response.ready.
"""
