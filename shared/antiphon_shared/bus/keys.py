"""Every Redis key there is, each made by a function.

Keys of one partition share the hash tag `{P}`, so that one commit stays in one slot of a Redis Cluster.
"""

from dataclasses import dataclass

from antiphon_shared.events import Component
from antiphon_shared.process.ids import partition_of


@dataclass(frozen=True, slots=True)
class Keys:
    """The key space of one deployment."""

    namespace: str = "antiphon"
    partitions: int = 1

    def partition(self, session_id: str) -> int:
        return partition_of(session_id, self.partitions)

    # The front door, outside all partitions.

    def queries(self) -> str:
        """Stream: what clients submit."""
        return f"{self.namespace}:queries"

    def rejected(self) -> str:
        """Stream: submissions that could not be understood, with the reason."""
        return f"{self.namespace}:queries:rejected"

    def rejection(self, entry: str) -> str:
        """Marker that an entry was rejected already; in the slot of the stream of rejections."""
        return f"{{{self.rejected()}}}:{entry}"

    def catalogue(self) -> str:
        """String: content hash of the current tool catalogue."""
        return f"{self.namespace}:catalogue"

    def catalogue_content(self, content_hash: str) -> str:
        """String: a tool catalogue."""
        return f"{self.namespace}:catalogue:{content_hash}"

    def content(self, content_hash: str) -> str:
        """String: what many sessions' records share, such as a system prompt."""
        return f"{self.namespace}:content:{content_hash}"

    def workflows(self) -> str:
        """Hash: what is published, by domain: the specification and the names of its workflows."""
        return f"{self.namespace}:workflows"

    def specification(self, content_hash: str) -> str:
        """String: a workflow specification."""
        return f"{self.namespace}:workflows:{content_hash}"

    def workers(self, component: Component) -> str:
        """Hash: last heartbeat of each worker of a component."""
        return f"{self.namespace}:workers:{component}"

    def format(self) -> str:
        """String: the newest format that a session was opened in; see live_format.py."""
        return f"{self.namespace}:format"

    def breakers(self) -> str:
        """Hash: the circuit breaker of each tool and model that has failed lately."""
        return f"{self.namespace}:breakers"

    def limiter(self, model: str) -> str:
        """Hash: what may still be asked of a model in this minute, and what its server has said of that."""
        return f"{self.namespace}:model:{model}:limiter"

    def recipes(self) -> str:
        """Hash: the recipes learned from sessions, by name."""
        return f"{self.namespace}:recipes"

    def recipes_recency(self) -> str:
        """Sorted set: their names, by when each was last learned or used in Unix milliseconds; in the same slot."""
        return f"{{{self.recipes()}}}:recency"

    def conversation(self, tenant: str, conversation_id: str) -> str:
        """Hash: the turns of a conversation, by session."""
        return f"{self.namespace}:conversation:{tenant}:{conversation_id}"

    # Tools, shared by all dispatchers.

    def slots(self, tool: str) -> str:
        """Sorted set: the calls of a tool that are under way, by when their slot expires."""
        return f"{self.namespace}:tool:{tool}:slots"

    def rate(self, tool: str) -> str:
        """String: when the next call of a rate-limited tool may begin, in Unix microseconds."""
        return f"{self.namespace}:tool:{tool}:rate"

    def cached(self, digest: str) -> str:
        """String: what a read returned."""
        return f"{self.namespace}:cache:{digest}"

    # One partition.

    def prefix(self, partition: int) -> str:
        return f"{self.namespace}:{{{partition}}}:"

    def inbox(self, partition: int, component: Component) -> str:
        """Stream: what a component has to do."""
        return f"{self.prefix(partition)}inbox:{component}"

    def timers(self, partition: int) -> str:
        """Sorted set: `session/name` of each timer, by its due time in Unix milliseconds."""
        return f"{self.prefix(partition)}timers"

    def timer_messages(self, partition: int) -> str:
        """Hash: what each timer delivers."""
        return f"{self.prefix(partition)}timers:messages"

    def dead(self, partition: int) -> str:
        """Stream: dead letters."""
        return f"{self.prefix(partition)}dead"

    def responses(self, partition: int) -> str:
        """Stream: every response."""
        return f"{self.prefix(partition)}responses"

    def feed(self, partition: int) -> str:
        """Stream: pointers to every event, capped."""
        return f"{self.prefix(partition)}events"

    def open_sessions(self, partition: int) -> str:
        """Sorted set: sessions that are open, by their opening in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions:open"

    def sessions(self, partition: int) -> str:
        """Sorted set: all sessions kept, by their opening in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions"

    def stopped(self, partition: int) -> str:
        """Sorted set: sessions whose work is to stop, by when that was said in Unix milliseconds."""
        return f"{self.prefix(partition)}sessions:stopped"

    def tenants_waiting(self, partition: int) -> str:
        """Sorted set: tenants with queries that wait for room, by the virtual time of their next turn."""
        return f"{self.prefix(partition)}waiting"

    def waiting(self, partition: int, tenant: str) -> str:
        """Sorted set: sessions of a tenant that wait for room, by their submission in Unix milliseconds."""
        return f"{self.prefix(partition)}waiting:of:{tenant}"

    def queries_waiting(self, partition: int) -> str:
        """Hash: the query of each session that waits for room, under its tenant, type and signatures."""
        return f"{self.prefix(partition)}waiting:queries"

    def turns(self, partition: int) -> str:
        """Sorted set: the virtual time of the turns of tenants that wait no more; of the present under no name."""
        return f"{self.prefix(partition)}waiting:turns"

    def waiting_deadlines(self, partition: int) -> str:
        """Sorted set: sessions that wait for room, by their deadline in Unix milliseconds."""
        return f"{self.prefix(partition)}waiting:deadlines"

    def history(self, partition: int) -> str:
        """Hash: the server that had the partition when writes were last claimed, and when that changed."""
        return f"{self.prefix(partition)}history"

    # One session.

    def log(self, session_id: str) -> str:
        """Stream: every event of the session, whole; its recording."""
        return self.of_session(session_id, "events")

    def deltas(self, session_id: str) -> str:
        """Stream: text of a running reply, capped and short-lived."""
        return self.of_session(session_id, "deltas")

    def effect(self, session_id: str, idempotency_key: str) -> str:
        """Hash: how a write stands; in the slot of its session, and kept longer."""
        return f"{self.prefix(self.partition(session_id))}effect:{idempotency_key}"

    def of_session(self, session_id: str, name: str) -> str:
        """A document, list or journal of the session."""
        partition = partition_of(session_id, self.partitions)
        return f"{self.namespace}:{{{partition}}}:session:{session_id}:{name}"
