"""The Redis keys, each made by a function.

Keys of one partition share the hash tag `{P}`, so that one commit stays in one slot of a Redis Cluster.
"""

from typing import NamedTuple

from antiphon_shared.events import Component
from antiphon_shared.process.ids import partition_of
from antiphon_shared.values import Tenant


class Keys(NamedTuple):
    """The key space of one deployment."""

    namespace: str = "antiphon"
    partitions: int = 1

    def partition(self, session_id: str) -> int:
        return partition_of(session_id, self.partitions)

    # The intake, outside all partitions.

    def queries(self) -> str:
        """Return the key of the stream of submissions."""
        return f"{self.namespace}:queries"

    def rejected(self) -> str:
        """Return the key of the stream of rejected submissions, with the reasons."""
        return f"{self.namespace}:queries:rejected"

    def rejection(self, entry: str) -> str:
        """Return the key of the marker of a rejected entry; in the slot of the stream of rejections."""
        return f"{{{self.rejected()}}}:{entry}"

    def rejection_of_session(self, session_id: str) -> str:
        """Return the key of the marker of a rejected submission with that session id, in the same slot."""
        return self.rejection(f"session:{session_id}")

    def catalogue(self) -> str:
        """Return the key of the string with the content hash of the current tool catalogue."""
        return f"{self.namespace}:catalogue"

    def catalogue_content(self, content_hash: str) -> str:
        """Return the key of the string with a tool catalogue."""
        return f"{self.namespace}:catalogue:{content_hash}"

    def content(self, content_hash: str) -> str:
        """Return the key of the string with content that many sessions' records share, such as a system prompt."""
        return f"{self.namespace}:content:{content_hash}"

    def workflows(self) -> str:
        """Return the key of the hash of publications by domain: the specification and the names of its workflows."""
        return f"{self.namespace}:workflows"

    def specification(self, content_hash: str) -> str:
        """Return the key of the string with a workflow specification."""
        return f"{self.namespace}:workflows:{content_hash}"

    def workers(self, component: Component) -> str:
        """Return the key of the hash with the last heartbeat of each worker of a component."""
        return f"{self.namespace}:workers:{component}"

    def format(self) -> str:
        """Return the key of the string with the newest format in which a session was opened; see live_format.py."""
        return f"{self.namespace}:format"

    def breakers(self) -> str:
        """Return the key of the hash with the circuit breaker of each tool and model that has failed lately."""
        return f"{self.namespace}:breakers"

    def limiter(self, model: str) -> str:
        """Return the key of the hash with a model's limits as its server reports them, and their state."""
        return f"{self.namespace}:model:{model}:limiter"

    def recipes(self) -> str:
        """Return the key of the hash of the recipes learned from sessions, by name."""
        return f"{self.namespace}:recipes"

    def recipes_recency(self) -> str:
        """Return the key of the sorted set of recipe names by last use in Unix milliseconds; in the same slot."""
        return f"{{{self.recipes()}}}:recency"

    def conversation(self, tenant: str, conversation_id: str) -> str:
        """Return the key of the hash of a conversation's turns, by session."""
        return f"{self.namespace}:conversation:{tenant}:{conversation_id}"

    # Tools, shared by all dispatchers.

    def slots(self, tool: str) -> str:
        """Return the key of the sorted set of a tool's calls in flight, by the expiry of their slots."""
        return f"{self.namespace}:tool:{tool}:slots"

    def rate(self, tool: str) -> str:
        """Return the key of the string with the start of a rate-limited tool's next call, in Unix microseconds."""
        return f"{self.namespace}:tool:{tool}:rate"

    def cached(self, digest: str) -> str:
        """Return the key of the string with the cached result of a read."""
        return f"{self.namespace}:cache:{digest}"

    # One partition.

    def prefix(self, partition: int) -> str:
        return f"{self.namespace}:{{{partition}}}:"

    def inbox(self, partition: int, component: Component) -> str:
        """Return the key of the stream of a component's incoming events."""
        return f"{self.prefix(partition)}inbox:{component}"

    def timers(self, partition: int) -> str:
        """Return the key of the sorted set of `session/name` of each timer, by its due time in Unix milliseconds."""
        return f"{self.prefix(partition)}timers"

    def timer_messages(self, partition: int) -> str:
        """Return the key of the hash with the message of each timer."""
        return f"{self.prefix(partition)}timers:messages"

    def dead(self, partition: int) -> str:
        """Return the key of the stream of dead letters."""
        return f"{self.prefix(partition)}dead"

    def responses(self, partition: int) -> str:
        """Return the key of the stream of every response."""
        return f"{self.prefix(partition)}responses"

    def feed(self, partition: int) -> str:
        """Return the key of the capped stream of pointers to every event."""
        return f"{self.prefix(partition)}events"

    def open_sessions(self, partition: int) -> str:
        """Return the key of the sorted set of open sessions, by their opening in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions:open"

    def sessions(self, partition: int) -> str:
        """Return the key of the sorted set of all stored sessions, by their opening in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions"

    def stopped(self, partition: int) -> str:
        """Return the key of the sorted set of stopped sessions, by the time of the stop in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions:stopped"

    def tenants_waiting(self, partition: int) -> str:
        """Return the key of the sorted set of tenants with waiting queries, by the virtual time of their next turn."""
        return f"{self.prefix(partition)}waiting"

    def waiting(self, partition: int, tenant: str) -> str:
        """Return the key of the sorted set of a tenant's waiting sessions, by their submission in Unix milliseconds."""
        return f"{self.prefix(partition)}waiting:of:{tenant}"

    def queries_waiting(self, partition: int) -> str:
        """Return the key of the hash with the query of each waiting session, after its tenant, type and signatures."""
        return f"{self.prefix(partition)}waiting:queries"

    def turns(self, partition: int) -> str:
        """Return the key of the sorted set of the virtual times of tenants that no longer wait.

        The present virtual time has the empty name.
        """
        return f"{self.prefix(partition)}waiting:turns"

    def waiting_deadlines(self, partition: int) -> str:
        """Return the key of the sorted set of waiting sessions, by their deadline in Unix milliseconds."""
        return f"{self.prefix(partition)}waiting:deadlines"

    def admission(self, partition: int, tenant: Tenant) -> list[str]:
        """Return the keys by which arrive.lua opens a session for a query of the tenant, or lets the query wait."""
        return [
            self.open_sessions(partition),
            self.sessions(partition),
            self.queries_waiting(partition),
            self.tenants_waiting(partition),
            self.waiting(partition, tenant),
            self.waiting_deadlines(partition),
            self.turns(partition),
        ]

    def history(self, partition: int) -> str:
        """Return the key of the hash with the server of the partition at the last claim, and when it changed."""
        return f"{self.prefix(partition)}history"

    # One session.

    def log(self, session_id: str) -> str:
        """Return the key of the stream of all events of the session."""
        return self.of_session(session_id, "events")

    def early_cancellation(self, session_id: str) -> str:
        """Return the key of the stream with the cancellation that the opening of a session reads.

        A session id cannot begin with `~`. The key has the form of a log, so that existing access rules permit it.
        """
        return f"{self.prefix(self.partition(session_id))}session:~cancelled:{session_id}:events"

    def deltas(self, session_id: str) -> str:
        """Return the key of the capped, short-lived stream of a running reply's text."""
        return self.of_session(session_id, "deltas")

    def effect(self, session_id: str, idempotency_key: str) -> str:
        """Return the key of the hash with the status of a write; in its session's slot, and kept longer."""
        return f"{self.prefix(self.partition(session_id))}effect:{idempotency_key}"

    def of_session(self, session_id: str, name: str) -> str:
        """Return the key of a document, list or journal of the session."""
        partition = partition_of(session_id, self.partitions)
        return f"{self.namespace}:{{{partition}}}:session:{session_id}:{name}"
