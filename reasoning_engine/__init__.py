"""The reasoning engine: one briefing in, one reply of the model or one classified failure out.

Consumes reasoning.requested and summary.requested. Emits reasoning.completed or reasoning.failed, and
summary.completed or summary.failed.
"""
