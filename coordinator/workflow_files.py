"""Workflows that the operator publishes. They are read from files at start-up, and kept published."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.workflows.specification import Specification

VARIABLE = "ANTIPHON_WORKFLOWS"
_RESTORE_S = 60.0


def read_workflow_files(paths: Iterable[str]) -> tuple[Specification, ...]:
    """Return the specifications of files and folders. Raises ConfigurationError, which names every error.

    A run checks the calls against their tools when it begins, as dispatchers may start later.
    """
    from antiphon_shared.workflows.file import read_workflows  # most deployments publish none

    specifications, problems = read_workflows(paths)
    if errors := [str(problem) for problem in problems if problem.severity == "error"]:
        why = f"{VARIABLE}: some workflows are invalid. Correct or remove them:"
        raise ConfigurationError("\n".join([why, *errors]))
    return tuple(specifications)


class Publishing:
    """The workflows that this coordinator publishes, and the renewal of all published ones."""

    def __init__(self, store: WorkflowStore, own: Sequence[Specification]) -> None:
        self._store, self._own = store, own

    async def publish_then(self, let_in: Callable[[], Awaitable[None]]) -> None:
        """Publish the workflows, then start the intake. Raises ConfigurationError for a name of another domain."""
        if self._own:
            await retry_while_unavailable("publish workflows", partial(self._store.publish, self._own))
        await let_in()

    async def renew_until_cancelled(self) -> None:
        """Restore workflows that Redis has lost, and renew the expiry of published ones, every minute.

        A newer version of the same domain stays, as the last publisher wins.
        """
        while True:
            await asyncio.sleep(_RESTORE_S)
            await retry_while_unavailable("keep workflows published", partial(self._store.restore, self._own))
