"""Workflows that the operator publishes: read from files where the coordinator starts, and kept published."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.workflows.specification import Specification

VARIABLE = "ANTIPHON_WORKFLOWS"
_RESTORE_S = 60.0


def read_workflow_files(paths: Iterable[str]) -> tuple[Specification, ...]:
    """Return the specifications of files and folders. Raises ConfigurationError, which names all that is wrong.

    Calls are not held against their tools: dispatchers may start later, and a run looks when it begins.
    """
    from antiphon_shared.workflows.file import read_workflows  # most deployments publish none

    specifications, problems = read_workflows(paths)
    if errors := [str(problem) for problem in problems if problem.severity == "error"]:
        why = f"{VARIABLE}: not all workflows can be used. Correct or take out what is named:"
        raise ConfigurationError("\n".join([why, *errors]))
    return tuple(specifications)


class Publishing:
    """The workflows that this coordinator publishes, and the life of all that are published."""

    def __init__(self, store: WorkflowStore, own: Sequence[Specification]) -> None:
        self._store, self._own = store, own

    async def before(self, let_in: Callable[[], Awaitable[None]]) -> None:
        """Publish, then let queries in. Raises ConfigurationError where another domain has a workflow of one name."""
        if self._own:
            await patiently("publish workflows", partial(self._store.publish, self._own))
        await let_in()

    async def keep(self) -> None:
        """Again and again: what Redis has lost is there again soon, and what is published does not expire.

        What was published since under the same domain stays: the last who published counts.
        """
        while True:
            await asyncio.sleep(_RESTORE_S)
            await patiently("keep workflows published", partial(self._store.restore, self._own))
