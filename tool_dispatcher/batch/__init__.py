"""A batch: the calls of one round, planned as a graph and run step by step. Every file is pure.

First read `schedule.py`: it decides at each step which units begin and which calls are answered. Then read
`plan.py`: it makes the plan, with these files:

    units.py            the units of execution: one call, or a group that runs as one call of its batch variant
    dependencies.py     which calls wait for which, and in what order
    placeholders.py     values that one call returns and another needs
    collapse.py         which calls form a group, and the result of a group, call by call
    answers.py          the errors of calls that do not run
"""

from tool_dispatcher.batch.answers import begun_elsewhere, failed
from tool_dispatcher.batch.collapse import gathered, spread
from tool_dispatcher.batch.placeholders import digest_of, resolve
from tool_dispatcher.batch.plan import BatchState, Bounds, Plan, plan_batch
from tool_dispatcher.batch.schedule import Progress, Step, advance, start
from tool_dispatcher.batch.units import Unit

__all__ = [
    "BatchState",
    "Bounds",
    "Plan",
    "Progress",
    "Step",
    "Unit",
    "advance",
    "begun_elsewhere",
    "digest_of",
    "failed",
    "gathered",
    "plan_batch",
    "resolve",
    "spread",
    "start",
]
