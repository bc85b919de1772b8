"""The runner of batches of calls within one process, by the contracts of their tools.

The executor is the dispatcher's, with a ledger and a store in memory. Features that need Redis are missing: after a
crash, a write may run a second time; there are no rate limits, breakers, slots and caches, which processes share;
large results are refused, not stored; and calls are not collapsed into one of a batch variant.
"""

import sys
from collections import defaultdict
from uuid import UUID

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import AnyEvent, ToolsCompleted, ToolsRequested
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.redaction.redactor import Redactor

from antiphon.linear.writes import MemoryLedger
from tool_dispatcher.access.gatekeeper import Gatekeeper
from tool_dispatcher.access.grants import Verifier
from tool_dispatcher.access.permission import ApprovalRule
from tool_dispatcher.batch import Bounds
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.executor import Executor
from tool_dispatcher.journal import Journal
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.running.attempt import Attempts
from tool_dispatcher.running.call import Caller
from tool_dispatcher.running.threads import Threads
from tool_dispatcher.settings import ToolDispatcherSettings

_NEVER_COLLAPSED = 1 << 30


class LinearTools:
    """The runner of batches with the tools of `registry`, within the default scopes of `settings`. Close it at the end.

    A call that needs an approval is refused, as no person can give it.
    """

    def __init__(self, registry: Registry, settings: ToolDispatcherSettings, redactor: Redactor) -> None:
        """Raise ConfigurationError when the settings demand approval of an unknown tool."""
        approval = settings.approval if registry else ()  # a plan without tools has none of those named
        rule = ApprovalRule.checked(approval, settings.approval_after_untrusted, registry)
        self.redactor = redactor
        self._threads = Threads(settings.threads)
        outcomes = Outcomes(redactor)
        attempts = Attempts(outcomes, None, self._threads, settings.calls_max)
        self._executor = Executor(
            registry,
            Gatekeeper(registry, Verifier((), settings.default_scopes), rule),
            Caller(registry, MemoryLedger(), None, attempts, outcomes, 0.0),
            outcomes=outcomes,
            bounds=Bounds(settings.batch_concurrency, _NEVER_COLLAPSED),
            result_bytes_max=settings.result_bytes_max,
            batch_bytes_max=sys.maxsize,
        )

    def close(self) -> None:
        """Close the pool of threads."""
        self._threads.close()

    async def run(self, session_id: str, request: ToolsRequested) -> ToolsCompleted:
        """Answer every call of a batch, in the order of the calls. Raises only CancelledError."""
        store = MemoryStore(session_id)
        return (await self._executor.run(request, store, Journal(store, request.round))).event


class MemoryStore(SessionStore):
    """The journals and stored contents of one session."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._journals: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._contents: dict[str, bytes] = {}

    async def document(self, name: str) -> tuple[int, bytes | None]:
        """See SessionStore."""
        return 0, None

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        """See SessionStore."""
        return []

    async def event(self, log_entry: str) -> AnyEvent:
        """See SessionStore."""
        raise UnreadableEvent(f"There is no log entry {log_entry}: the session has no log.")

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        """See SessionStore."""
        return None

    async def settled(self, journal: str) -> dict[str, bytes]:
        """See SessionStore."""
        return dict(self._journals[journal])

    async def count(self, journal: str) -> int:
        """See SessionStore."""
        return len(self._journals[journal])

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        """See SessionStore."""
        return self._journals[journal].setdefault(entry, content) is content

    async def store(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        """See SessionStore."""
        self._contents[name] = content

    async def load(self, name: str) -> bytes | None:
        """See SessionStore."""
        return self._contents.get(name)

    async def stream_text(self, text: str) -> None:
        """See SessionStore."""
