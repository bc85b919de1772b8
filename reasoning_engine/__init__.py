"""The reasoning engine: sends one briefing to the model and returns its reply or one classified failure.

Consumes reasoning.requested and summary.requested. Emits reasoning.completed or reasoning.failed, and
summary.completed or summary.failed.
"""
