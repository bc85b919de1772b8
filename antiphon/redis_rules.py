"""The permissions in Redis: the commands that each user may run, and on which keys. Pure.

All other commands are denied. Redis checks the commands in a script too, so the rules include them.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from antiphon_shared.bus.handling import (
    BRIEFING,
    MEMORY,
    RECORDS,
    RESPONSE,
    RUN,
    STATE,
    TO_SUMMARIZE,
    VECTORS,
)
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.events.base import emitter_of
from antiphon_shared.events.codec import EVENT_DATA

User = Component | Literal["client", "operator"]
USERS: tuple[User, ...] = (*COMPONENTS, "client", "operator")

_TAKE = ("xreadgroup", "xpending", "xrange", "xinfo|consumers")
_FINISH = ("xack", "xdel", "xclaim", "xlen", "xgroup|create", "xgroup|delconsumer")
_RENEW = ("xsetid", "xgroup|setid", "xack", "xdel")
"""Commands of append.lua after an entry with the highest possible id."""
_PUT = ("xadd", "xlen", *_RENEW)
_LOG = ("xadd", "xlen", "pexpire", *_RENEW)
_BREAKERS = ("hgetall", "hget", "hset", "hdel", "hlen")
_READ_DOCUMENT = ("hmget",)
_WRITE_DOCUMENT = ("hset", "pexpire")


class Rule(NamedTuple):
    """Commands, in lower case, and the keys on which they are allowed; `access` as in `%R~`, `%W~`, `%RW~`."""

    access: Literal["R", "W", "RW"]
    commands: tuple[str, ...]
    keys: tuple[str, ...]


def rules_of(user: User, namespace: str) -> tuple[Rule, ...]:
    """Return the rules of a user; a key is a Redis pattern, in partition 0."""
    return tuple(_rules(user, Keys(namespace)))


def outboxes(component: Component) -> tuple[Component, ...]:
    """Return the components whose inboxes receive a component's events; failures go to the coordinator."""
    emitted = (data for data in EVENT_DATA if emitter_of(data) == component)
    inboxes = {data.inbox for data in emitted} | {"coordinator"}
    return tuple(other for other in COMPONENTS if other in inboxes)


def _rules(user: User, keys: Keys) -> Iterator[Rule]:
    match user:
        case "client":
            yield from _client(keys)
        case "operator":
            yield from _operator(keys)
        case _:
            yield from _runtime(user, keys)
            yield from _OWN[user](keys)


def _runtime(component: Component, keys: Keys) -> Iterator[Rule]:
    """Yield the rules of the runtime in every component: deliveries, commits, heartbeats."""
    inbox, handled = keys.inbox(0, component), keys.of_session("*", "handled")
    yield Rule("R", _TAKE, (inbox,))
    yield Rule("W", _FINISH, (inbox,))
    yield Rule("W", _PUT, tuple(keys.inbox(0, other) for other in outboxes(component)))
    yield Rule("W", _LOG, (keys.log("*"),))
    yield Rule("W", _PUT, (keys.feed(0), keys.dead(0)))
    yield Rule("RW", ("sismember", "sadd", "pexpire"), (handled,))
    yield Rule("RW", ("llen", "rpush", "pexpire"), (keys.of_session("*", RECORDS),))
    yield Rule("W", ("zadd", "zrem", "zcard"), (keys.timers(0),))
    yield Rule("W", ("hset", "hdel", "hlen"), (keys.timer_messages(0),))
    yield Rule("RW", ("type", "del", "hset", "hgetall", "hdel"), (keys.workers(component),))
    # The formats that other workers read determine the format of new sessions.
    yield Rule("R", ("hgetall",), tuple(map(keys.workers, COMPONENTS)))
    yield Rule("R", ("get",), (keys.format(),))
    # Every commit names the set, and EVALSHA demands permission for it; only the coordinator closes a
    # session.
    yield Rule("RW", (), (keys.open_sessions(0),))


def _coordinator(keys: Keys) -> Iterator[Rule]:
    state, response = keys.of_session("*", STATE), keys.of_session("*", RESPONSE)
    yield Rule("W", ("set",), (keys.format(),))
    yield Rule("R", _TAKE, (keys.queries(),))
    yield Rule("W", (*_FINISH, "del", "xsetid", "xgroup|setid"), (keys.queries(),))
    yield Rule("W", ("xadd", *_RENEW), (keys.rejected(),))
    yield Rule("W", ("set",), (keys.rejection("*"),))
    yield Rule("R", (*_READ_DOCUMENT, "hget"), (state, response))
    yield Rule("W", _WRITE_DOCUMENT, (state, response))
    yield Rule("R", ("get",), (keys.catalogue(), keys.catalogue_content("*")))
    yield from _runs(keys)
    # To answer by itself if no assembler does, it reads the same data as an assembler.
    yield Rule("R", ("exists", "xrange", "xrevrange"), (keys.log("*"),))
    yield from _material(keys)
    turns = ("hgetall", "hget", "hset", "hsetnx", "hlen", "hdel", "pexpire")
    yield Rule("RW", turns, (keys.conversation("*", "*"),))
    yield Rule("W", (*_PUT, "xtrim"), (keys.responses(0), keys.feed(0)))
    yield Rule("RW", ("zadd", "zrem", "zcard", "zrangebyscore"), (keys.open_sessions(0), keys.sessions(0)))
    yield from _admission(keys)
    yield Rule("R", ("zrangebyscore", "zrange"), (keys.timers(0),))
    stop = ("zadd", "zcard", "zrange", "zremrangebyscore", "zremrangebyrank", "pexpire")
    yield Rule("RW", stop, (keys.stopped(0),))
    yield Rule("R", ("hget",), (keys.timer_messages(0),))
    yield Rule("RW", _BREAKERS, (keys.breakers(),))


def _runs(keys: Keys) -> Iterator[Rule]:
    """Yield the rules for publishing workflows and deciding about their runs."""
    yield Rule("RW", ("get", "set", "pexpire"), (keys.specification("*"),))
    yield Rule("RW", ("hgetall", "hset", "hsetnx"), (keys.workflows(),))
    # A catalogue with workflows as tools is stored in addition to that of the dispatchers.
    yield Rule("W", ("set",), (keys.catalogue_content("*"),))
    yield Rule("RW", ("lrange", "lindex", "llen", "rpush", "pexpire"), (keys.of_session("*", RUN),))
    yield Rule("RW", ("set", "get"), (keys.of_session("*", "token:*"), keys.of_session("*", "result:*")))
    # Current recipes are offered, and their use is recorded.
    yield Rule("R", ("hget", "hgetall"), (keys.recipes(),))
    yield Rule("W", ("zadd",), (keys.recipes_recency(),))


def _admission(keys: Keys) -> Iterator[Rule]:
    """Yield the rules for queueing queries and opening sessions."""
    tenants, lists = keys.tenants_waiting(0), keys.waiting(0, "*")
    yield Rule("R", ("exists",), (keys.rejection("*"), lists))
    yield Rule("RW", ("hlen", "hexists", "hget", "hset", "hdel"), (keys.queries_waiting(0),))
    yield Rule("RW", ("zcard", "zadd", "zrem", "zrange", "zscore"), (tenants, lists))
    yield Rule("RW", ("zcard", "zadd", "zrem", "zrangebyscore"), (keys.waiting_deadlines(0),))
    yield Rule("RW", ("zcard", "zadd", "zscore", "zremrangebyscore", "del"), (keys.turns(0),))


def _reasoning_engine(keys: Keys) -> Iterator[Rule]:
    yield Rule("R", ("zrangebyscore",), (keys.stopped(0),))
    yield Rule("R", _READ_DOCUMENT, (keys.of_session("*", BRIEFING), keys.of_session("*", TO_SUMMARIZE)))
    yield Rule("W", ("xadd", "pexpire"), (keys.deltas("*"),))
    yield Rule("R", ("lrange",), (keys.of_session("*", RECORDS),))
    yield Rule("W", ("set",), (keys.content("*"),))
    yield Rule("R", ("get",), (keys.catalogue_content("*"),))
    yield Rule("RW", ("hget", "hmget", "hset", "pexpire"), (keys.limiter("*"),))
    yield Rule("RW", _BREAKERS, (keys.breakers(),))


def _tool_dispatcher(keys: Keys) -> Iterator[Rule]:
    journal, effect = keys.of_session("*", "journal:*"), keys.prefix(0) + "effect:*"
    yield Rule("R", ("zrangebyscore", "zscore"), (keys.stopped(0),))
    yield Rule("R", ("xrange",), (keys.log("*"),))
    yield Rule("R", ("lrange",), (keys.of_session("*", MEMORY),))
    yield Rule("RW", ("hsetnx", "hgetall", "hexists", "hlen", "pexpire"), (journal,))
    yield Rule("RW", ("del", "hmget", "hset", "pexpire"), (keys.history(0),))
    yield Rule("R", ("zscore",), (keys.sessions(0),))
    yield Rule("RW", ("hmget", "hget", "hset", "hsetnx", "hdel", "del", "pexpire"), (effect,))
    yield Rule("RW", ("hget", "hdel"), (journal,))
    writes, order = keys.of_session("*", "writes"), keys.of_session("*", "writes:order")
    yield Rule("RW", ("hget", "hmget", "hset", "hdel", "hincrby", "pexpire"), (writes,))
    yield Rule("RW", ("zadd", "zrem", "zrangebyscore", "pexpire"), (order,))
    yield Rule("RW", ("set", "get"), (keys.of_session("*", "result:*"), keys.cached("*"), keys.rate("*")))
    yield Rule("W", ("set",), (keys.catalogue(), keys.catalogue_content("*")))
    # To plan with the workflows in a session's catalogue.
    yield Rule("R", ("get",), (keys.catalogue_content("*"),))
    yield Rule("RW", ("get", "pexpire"), (keys.specification("*"),))
    slots = ("zremrangebyscore", "zcard", "zscore", "zadd", "zrange", "zrem", "pexpireat")
    yield Rule("RW", slots, (keys.slots("*"),))
    yield Rule("RW", _BREAKERS, (keys.breakers(),))


def _context_synthesizer(keys: Keys) -> Iterator[Rule]:
    briefing, memory = keys.of_session("*", BRIEFING), keys.of_session("*", MEMORY)
    documents = (briefing, keys.of_session("*", TO_SUMMARIZE))
    yield Rule("R", ("xrange",), (keys.log("*"),))
    yield Rule("RW", ("hget", *_WRITE_DOCUMENT), documents)
    yield Rule("RW", ("lrange", "llen", "rpush", "pexpire"), (memory, keys.of_session("*", VECTORS)))


def _response_assembler(keys: Keys) -> Iterator[Rule]:
    yield Rule("R", ("xrange",), (keys.log("*"),))
    yield from _material(keys)
    yield Rule("RW", (*_READ_DOCUMENT, "hget", *_WRITE_DOCUMENT), (keys.of_session("*", RESPONSE),))
    yield Rule("W", _PUT, (keys.responses(0),))


def _material(keys: Keys) -> Iterator[Rule]:
    """Yield the rules for reading the material of an answer, apart from the log."""
    yield Rule("R", ("lrange",), (keys.of_session("*", MEMORY),))
    yield Rule("R", ("hgetall",), (keys.of_session("*", "journal:*"),))


_OWN = {
    "coordinator": _coordinator,
    "reasoning_engine": _reasoning_engine,
    "tool_dispatcher": _tool_dispatcher,
    "context_synthesizer": _context_synthesizer,
    "response_assembler": _response_assembler,
}


def _following(keys: Keys) -> Iterator[Rule]:
    """Yield the rules for following a submission to its answer."""
    yield Rule("R", ("xrange", "xrevrange"), (keys.queries(), keys.rejected()))
    yield Rule("R", ("exists",), (keys.log("*"), keys.rejection("*")))
    yield Rule("R", ("hexists", "hget"), (keys.queries_waiting(0),))
    yield Rule("R", ("xrange", "xread"), (keys.log("*"), keys.deltas("*"), keys.responses(0)))
    yield Rule("R", _READ_DOCUMENT, (keys.of_session("*", RESPONSE),))


def _client(keys: Keys) -> Iterator[Rule]:
    yield Rule("W", ("xadd",), (keys.queries(),))
    yield from _following(keys)
    yield Rule("R", ("hgetall",), tuple(map(keys.workers, COMPONENTS)))
    yield from _own_workflows(keys)


def _own_workflows(keys: Keys) -> Iterator[Rule]:
    """Yield the rules for running workflows, published and others."""
    yield Rule("R", ("hgetall",), (keys.workflows(),))
    yield Rule("RW", ("get", "set", "pexpire"), (keys.specification("*"),))


def _operator(keys: Keys) -> Iterator[Rule]:
    yield from _own_workflows(keys)
    yield Rule("W", ("hset", "hdel"), (keys.workflows(),))
    yield Rule("R", ("lrange",), (keys.of_session("*", RUN),))
    yield Rule("R", ("get",), (keys.of_session("*", "token:*"),))
    inboxes = tuple(keys.inbox(0, component) for component in COMPONENTS)
    yield from _following(keys)
    yield Rule("R", ("hgetall",), tuple(map(keys.workers, COMPONENTS)))
    yield Rule("R", ("xrange", "xlen", "xpending"), (*inboxes, keys.queries()))
    yield Rule("R", ("xlen",), (keys.rejected(),))
    yield Rule("R", ("zcard", "zrange"), (keys.open_sessions(0), keys.sessions(0)))
    yield Rule("R", ("hlen", "hmget"), (keys.queries_waiting(0),))
    yield Rule("R", ("zcard", "zrange"), (keys.tenants_waiting(0), keys.waiting(0, "*")))
    # A waiting session that is to be cancelled is opened out of turn: its deadline is set to 0.
    yield Rule("RW", ("zrange", "zadd"), (keys.waiting_deadlines(0),))
    yield Rule("R", _READ_DOCUMENT, (keys.of_session("*", STATE),))
    yield Rule("R", ("hgetall",), (keys.conversation("*", "*"),))
    yield Rule("R", ("get",), (keys.catalogue(), keys.catalogue_content("*"), keys.content("*")))
    yield Rule("R", ("lrange", "llen"), (keys.of_session("*", RECORDS),))
    yield Rule("R", ("xread", "xrange"), (keys.feed(0),))
    yield Rule("RW", _BREAKERS, (keys.breakers(),))
    recipes = ("hget", "hgetall", "hset", "hdel", "zadd", "zrem", "zcard", "zrange", "zpopmin")
    yield Rule("RW", recipes, (keys.recipes(), keys.recipes_recency()))
    yield Rule("R", ("xlen", "xrange", "xrevrange"), (keys.dead(0),))
    yield Rule("W", ("xdel",), (keys.dead(0),))
    # Dead letters return to their inboxes; cancellations and decisions go to the coordinator.
    yield Rule("W", _PUT, (*inboxes, keys.feed(0)))
    yield Rule("W", _LOG, (keys.log("*"),))
