"""A batch: the calls of one round, planned as a graph and run step by step. Pure, all of it.

Read first `schedule.py`, which says what to begin and what is answered as things happen; then `plan.py`, which
makes what it goes by:

    units.py            what runs at once: one call, or a group as one call of its batch variant
    dependencies.py     which calls wait for which, and in what order they may come
    placeholders.py     values that one call returns and another needs
    collapse.py         which calls are grouped, and what came of a group, call by call
    answers.py          what calls that do not run are told
"""

from tool_dispatcher.batch.answers import begun_before, failed
from tool_dispatcher.batch.collapse import gathered, spread
from tool_dispatcher.batch.placeholders import digest_of, resolve
from tool_dispatcher.batch.plan import Bounds, Plan, plan_batch
from tool_dispatcher.batch.schedule import Progress, Step, advance, start
from tool_dispatcher.batch.units import Unit

__all__ = [
    "Bounds",
    "Plan",
    "Progress",
    "Step",
    "Unit",
    "advance",
    "begun_before",
    "digest_of",
    "failed",
    "gathered",
    "plan_batch",
    "resolve",
    "spread",
    "start",
]
