"""The coordinator: decides what happens next in every session, and nothing else.

Consumes query.submitted, cancellation.requested, approval.decided, every reply of the other components, and its
own timers. Emits session.opened, briefing.requested, reasoning.requested, summary.requested,
approval.requested, tools.requested and assembly.requested.
"""
