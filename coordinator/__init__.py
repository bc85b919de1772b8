"""The coordinator, which decides the next step of every session.

Consumes query.submitted, cancellation.requested, approval.decided, every reply of the other components, and
its own timers. Emits session.opened, briefing.requested, reasoning.requested, summary.requested,
approval.requested, tools.requested and assembly.requested.
"""
