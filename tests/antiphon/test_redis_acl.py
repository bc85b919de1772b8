"""The rights of each user in Redis: the table, and the file in a real Redis."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import redis
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.early_cancellations import cancellation_reason, keep_cancellation
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import Signer
from antiphon_shared.events import COMPONENTS, CancellationRequested, QuerySubmitted
from antiphon_shared.process.settings import BusSettings
from redis.exceptions import NoPermissionError

from antiphon.recipes.learn import learn
from antiphon.recipes.store import RecipeStore
from antiphon.redis_acl import acl_file
from antiphon.redis_rules import USERS, Rule, User, outboxes, rules_of
from reasoning_engine.limits import limiter as limiter_module
from reasoning_engine.limits.headers import ReportedLimits
from reasoning_engine.limits.limiter import Limiter, TooLate
from reasoning_engine.limits.meters import Limits, Spending
from tests.antiphon.recipes.chains import a_call, a_chain
from tests.bus.builders import Seen, a_query, until_done, working
from tests.envelopes import an_event
from tests.redis_server import RedisServer, running

KEYS = Keys("antiphon", 3)
ADMIN = "admin:secret"
NO = r"can't run this command|can't access|no permissions"

KINDS: dict[str, str] = {
    **{str(component): KEYS.inbox(0, component) for component in COMPONENTS},
    **{f"workers of {component}": KEYS.workers(component) for component in COMPONENTS},
    "queries": KEYS.queries(),
    "rejected": KEYS.rejected(),
    "rejection": KEYS.rejection("1-1"),
    "catalogue": KEYS.catalogue(),
    "content": KEYS.catalogue_content("abc"),
    "conversation": KEYS.conversation("acme", "c1"),
    "slots": KEYS.slots("look_up"),
    "rate": KEYS.rate("look_up"),
    "cached": KEYS.cached("abc"),
    "limiter": KEYS.limiter("claude"),
    "breakers": KEYS.breakers(),
    "workflows": KEYS.workflows(),
    "specification": KEYS.specification("abc"),
    "recipes": KEYS.recipes(),
    "recipes by recency": KEYS.recipes_recency(),
    "timers": KEYS.timers(0),
    "messages": KEYS.timer_messages(0),
    "dead": KEYS.dead(0),
    "responses": KEYS.responses(0),
    "feed": KEYS.feed(0),
    "open": KEYS.open_sessions(0),
    "sessions": KEYS.sessions(0),
    "stopped": KEYS.stopped(0),
    "queries waiting": KEYS.queries_waiting(0),
    "tenants waiting": KEYS.tenants_waiting(0),
    "waiting of a tenant": KEYS.waiting(0, "acme"),
    "deadlines": KEYS.waiting_deadlines(0),
    "turns": KEYS.turns(0),
    "effect": KEYS.prefix(0) + "effect:acme/s1/1/c1",
    **{
        name: f"{KEYS.prefix(0)}session:s1:{name}"
        for name in (
            "events",
            "deltas",
            "state",
            "response",
            "briefing",
            "to_summarize",
            "memory",
            "handled",
            "journal:1",
            "result:abc",
            "run",
            "token:1",
        )
    },
}
"""One key of every kind there is."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "get": ("GET", "KEY"),
    "set": ("SET", "KEY", "v"),
    "del": ("DEL", "KEY"),
    "exists": ("EXISTS", "KEY"),
    "hget": ("HGET", "KEY", "f"),
    "hexists": ("HEXISTS", "KEY", "f"),
    "hlen": ("HLEN", "KEY"),
    "hmget": ("HMGET", "KEY", "f"),
    "hgetall": ("HGETALL", "KEY"),
    "hsetnx": ("HSETNX", "KEY", "f", "v"),
    "hset": ("HSET", "KEY", "f", "v"),
    "hdel": ("HDEL", "KEY", "f"),
    "lrange": ("LRANGE", "KEY", "0", "-1"),
    "lindex": ("LINDEX", "KEY", "-1"),
    "rpush": ("RPUSH", "KEY", "v"),
    "sadd": ("SADD", "KEY", "v"),
    "zadd": ("ZADD", "KEY", "1", "v"),
    "zcard": ("ZCARD", "KEY"),
    "zrange": ("ZRANGE", "KEY", "0", "-1"),
    "zrangebyscore": ("ZRANGEBYSCORE", "KEY", "0", "1"),
    "zremrangebyscore": ("ZREMRANGEBYSCORE", "KEY", "0", "1"),
    "zscore": ("ZSCORE", "KEY", "v"),
    "zrem": ("ZREM", "KEY", "v"),
    "xadd": ("XADD", "KEY", "*", "f", "v"),
    "xrange": ("XRANGE", "KEY", "-", "+"),
    "xrevrange": ("XREVRANGE", "KEY", "+", "-"),
    "xread": ("XREAD", "STREAMS", "KEY", "0"),
    "xreadgroup": ("XREADGROUP", "GROUP", "g", "c", "STREAMS", "KEY", ">"),
    "xack": ("XACK", "KEY", "g", "1-1"),
    "xclaim": ("XCLAIM", "KEY", "g", "c", "0", "1-1"),
    "xdel": ("XDEL", "KEY", "1-1"),
    "xtrim": ("XTRIM", "KEY", "MAXLEN", "0"),
    "xgroup|destroy": ("XGROUP", "DESTROY", "KEY", "g"),
    "xgroup|setid": ("XGROUP", "SETID", "KEY", "g", "0"),
    "pexpire": ("PEXPIRE", "KEY", "1"),
    "rename": ("RENAME", "KEY", "KEY"),
    "dump": ("DUMP", "KEY"),
    "restore": ("RESTORE", "KEY", "0", "x"),
    "copy": ("COPY", "KEY", "KEY"),
    "getdel": ("GETDEL", "KEY"),
    "persist": ("PERSIST", "KEY"),
    "sort": ("SORT", "KEY"),
}

NEVER = (
    ("CONFIG", "GET", "*"),
    ("CONFIG", "SET", "dir", "/tmp"),
    ("KEYS", "*"),
    ("SCAN", "0"),
    ("RANDOMKEY",),
    ("FLUSHALL",),
    ("FLUSHDB",),
    ("SWAPDB", "0", "1"),
    ("SELECT", "1"),
    ("ACL", "LIST"),
    ("ACL", "SETUSER", "client", "+@all"),
    ("ACL", "WHOAMI"),
    ("DEBUG", "SLEEP", "0"),
    ("MONITOR",),
    ("SHUTDOWN", "NOSAVE"),
    ("REPLICAOF", "NO", "ONE"),
    ("MODULE", "LIST"),
    ("CLIENT", "KILL", "TYPE", "normal"),
    ("CLIENT", "LIST"),
    ("CLIENT", "PAUSE", "1"),
    ("SCRIPT", "FLUSH"),
    ("SCRIPT", "KILL"),
    ("FUNCTION", "LIST"),
    ("SLOWLOG", "GET"),
    ("LATENCY", "RESET"),
    ("SUBSCRIBE", "channel"),
    ("PUBLISH", "channel", "message"),
    ("BGSAVE",),
    ("BGREWRITEAOF",),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Yield a Redis with the file, and an administrator; passwords are the names."""
    acl = tmp_path_factory.mktemp("acl") / "users.acl"
    text = acl_file(KEYS, {user: user for user in USERS})
    acl.write_text(f"{text}user admin on >secret ~* &* +@all\n")
    with running("--aclfile", str(acl), "--enable-debug-command", "yes", login=ADMIN) as server:
        yield server


def may(rules: tuple[Rule, ...], command: str, key: str) -> bool:
    """Return whether the table allows a command on a key."""
    return any(
        command in rule.commands and any(fnmatchcase(key, pattern) for pattern in rule.keys) for rule in rules
    )


def allowed(server: RedisServer, user: User, words: list[tuple[str, ...]]) -> list[bool]:
    """Return Redis's verdict on each command, without running it."""
    with redis.Redis.from_url(server.url) as admin:
        pipeline = admin.pipeline(transaction=False)
        for command in words:
            pipeline.execute_command("ACL", "DRYRUN", user, *command)
        return [answer in (b"OK", True) for answer in pipeline.execute()]


def on(command: str, key: str) -> tuple[str, ...]:
    return tuple(key if word == "KEY" else word for word in COMMANDS[command])


@pytest.mark.parametrize("user", USERS)
def test_redis_allows_a_user_exactly_the_rights_of_the_table(server: RedisServer, user: User) -> None:
    asked = [(command, name) for command in COMMANDS for name in KINDS]
    answers = allowed(server, user, [on(command, KINDS[name]) for command, name in asked])
    rules = rules_of(user, "antiphon")
    expected = [may(rules, command, KINDS[name]) for command, name in asked]
    assert [one for one, was, is_ in zip(asked, expected, answers, strict=True) if was != is_] == []
    assert 0 < sum(answers) < len(answers) / 8


@pytest.mark.parametrize("user", USERS)
def test_no_user_reaches_another_namespace_or_an_invalid_partition(server: RedisServer, user: User) -> None:
    elsewhere = [key.replace("antiphon", "antiphon2", 1) for key in KINDS.values()]
    elsewhere += [key.replace("{0}", "{10}") for key in KINDS.values() if "{0}" in key]
    elsewhere += ["antiphon", "other", "antiphon:{x}:inbox:coordinator", "antiphon:{0}:inbox:"]
    asked = [on(command, key) for command in COMMANDS for key in elsewhere]
    asked += [("EVAL", "return 1", "1", key) for key in elsewhere]
    assert not any(allowed(server, user, asked))


@pytest.mark.parametrize("user", USERS)
def test_every_user_has_the_same_rights_on_every_partition(server: RedisServer, user: User) -> None:
    asked = [on(command, key) for command in COMMANDS for key in KINDS.values() if "{0}" in key]
    others = [tuple(word.replace("{0}", "{2}") for word in words) for words in asked]
    assert allowed(server, user, asked) == allowed(server, user, others)


@pytest.mark.parametrize("user", USERS)
def test_no_user_administers_the_server(server: RedisServer, user: User) -> None:
    with redis.Redis.from_url(server.url_of(f"{user}:{user}")) as client:
        for command in NEVER:
            with pytest.raises(NoPermissionError):
                client.execute_command(*command)
        assert client.ping()


def test_a_connection_without_a_user_is_refused(server: RedisServer) -> None:
    with redis.Redis.from_url(server.url_of("")) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


@pytest.mark.parametrize("user", USERS)
def test_a_script_may_do_no_more_than_its_caller(server: RedisServer, user: User) -> None:
    """EVAL on a key that the user may name, with a command that it may not run there."""
    key = KINDS["dead"]
    with redis.Redis.from_url(server.url_of(f"{user}:{user}")) as client:
        with pytest.raises(redis.ResponseError, match=NO):
            client.eval("return redis.call('DEL', KEYS[1])", 1, key)
        with pytest.raises(redis.ResponseError, match=NO):
            client.eval("return redis.call('SET', 'antiphon2:undeclared', '1')", 0)


def test_an_inbox_accepts_events_of_its_emitters_and_of_operators() -> None:
    writers: dict[str, set[str]] = {
        owner: {user for user in USERS if may(rules_of(user, "antiphon"), "xadd", KINDS[owner])}
        for owner in COMPONENTS
    }
    for owner in COMPONENTS:
        expected = {*COMPONENTS, "operator"} if owner == "coordinator" else {"coordinator", "operator"}
        assert writers[owner] == expected
    assert outboxes("reasoning_engine") == ("coordinator",)


def test_an_inbox_is_read_by_its_component_alone() -> None:
    for owner in COMPONENTS:
        readers = {user for user in USERS if may(rules_of(user, "antiphon"), "xreadgroup", KINDS[owner])}
        assert readers == {owner}


def test_breakers_are_writable_by_components_that_use_them_and_by_operators() -> None:
    """A client that could close one, or hold one open, would decide for all others."""
    for command in ("hgetall", "hset", "hdel"):
        users = {user for user in USERS if may(rules_of(user, "antiphon"), command, KINDS["breakers"])}
        assert users == {"coordinator", "reasoning_engine", "tool_dispatcher", "operator"}


def test_passwords_are_stored_as_hashes(tmp_path: Path) -> None:
    text = acl_file(KEYS, {"client": "hunter2"})
    assert "hunter2" not in text
    assert "#f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7" in text
    assert text.startswith("user default off resetchannels -@all\nuser client on #")


def test_a_database_and_a_cluster_need_additional_rights() -> None:
    plain = acl_file(KEYS, {"client": None})
    assert "+select" not in plain
    assert "+cluster" not in plain
    assert "+select" in acl_file(KEYS, {"client": None}, database=2)
    assert "+cluster|slots" in acl_file(KEYS, {"client": None}, is_cluster=True)


@pytest.mark.parametrize(
    ("partitions", "patterns"),
    [(1, ["{0}"]), (10, ["{[0-9]}"]), (1024, ["{[0-9]}", "{[0-9][0-9][0-9][0-9]}"])],
)
def test_partitions_are_matched_by_patterns_of_digits(partitions: int, patterns: list[str]) -> None:
    text = acl_file(Keys("antiphon", partitions), {"coordinator": None})
    for pattern in patterns:
        assert f"%W~antiphon:{pattern}:inbox:tool_dispatcher" in text


async def test_the_engines_limiter_works_within_its_rights(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The component continues without a Redis that refuses it, so its stored data is checked."""
    monkeypatch.setattr(limiter_module, "_ANSWER_S", 60)
    bus = Bus(Connections(server.url_of("reasoning_engine:reasoning_engine")), KEYS, BusSettings())
    await bus.open(60)
    limiter = Limiter(bus.batcher, KEYS, Limits(requests=1, burst_s=0))
    (await limiter.reserve("m", 1, 1, 0)).settle(Spending(requests=0))
    limiter.learn("m", {"tokens": ReportedLimits(1_000)}, 600)
    await limiter.flushed()
    with pytest.raises(TooLate):
        await limiter.reserve("m", 1, 1, 0)
    await bus.close()
    with redis.Redis.from_url(server.url_of(ADMIN)) as admin:
        kept = admin.hgetall(KEYS.limiter("m"))
    assert set(kept) >= {b"requests:full", b"tokens:limit", b"paused"}


async def test_the_rights_of_a_component_and_an_operator_suffice_in_a_cluster(tmp_path: Path) -> None:
    acl = tmp_path / "users.acl"
    text = acl_file(KEYS, {user: user for user in USERS}, is_cluster=True)
    acl.write_text(f"{text}user admin on >secret ~* &* +@all\n")
    with running("--aclfile", str(acl), is_cluster=True, login=ADMIN) as server:
        coordinator, operator = [
            Bus(Connections(server.url_of(f"{user}:{user}")), KEYS, BusSettings())
            for user in ("coordinator", "operator")
        ]
        await coordinator.open(60)
        await operator.open(60)
        await operator.batcher.submit("XLEN", KEYS.dead(1))
        seen = Seen()
        async with working(coordinator, {QuerySubmitted: seen}):
            await coordinator.publish(a_query(), "open")
            await until_done(coordinator)
        assert seen.queries == ["Why?"]
        await coordinator.close()
        await operator.close()


async def test_the_breakers_work_within_the_rights(server: RedisServer) -> None:
    for user in ("coordinator", "reasoning_engine", "tool_dispatcher", "operator"):
        bus = Bus(Connections(server.url_of(f"{user}:{user}")), KEYS, BusSettings())
        await bus.open(60)
        store = BreakerStore(bus.batcher, KEYS)
        assert (await store.swap("tool:look", b"", b"{}")).outcome == "done"
        assert "tool:look" in (await store.look()).raw
        assert (await store.swap("tool:look", b"{}", b"")).outcome == "done"
        await bus.close()
    client = Bus(Connections(server.url_of("client:client")), KEYS, BusSettings())
    await client.open(60)
    with pytest.raises(redis.ResponseError, match=NO):
        await BreakerStore(client.batcher, KEYS).swap("tool:look", b"", b"{}")
    await client.close()


async def test_an_operator_keeps_recipes_and_a_component_does_not(server: RedisServer) -> None:
    chain = a_chain("Go.", a_call("put", {"x": "hot"}, {}, 1, effect="write"))
    soup, stew = (learn([chain], name).recipe for name in ("soup", "stew"))
    operator = Bus(Connections(server.url_of("operator:operator")), KEYS, BusSettings())
    await operator.open(60)
    store = RecipeStore(operator)
    await store.store(soup, 10)
    assert await store.store(stew, 1) == ("soup",)
    await store.used("stew")
    assert await store.all() == [stew]
    assert await store.forget("stew")
    assert await store.all() == []
    await operator.close()
    dispatcher = Bus(Connections(server.url_of("tool_dispatcher:tool_dispatcher")), KEYS, BusSettings())
    await dispatcher.open(60)
    with pytest.raises(redis.ResponseError, match=NO):
        await RecipeStore(dispatcher).store(soup, 10)
    await dispatcher.close()


async def test_a_cancellation_in_the_queue_is_within_the_rights_and_needs_a_signature(
    server: RedisServer,
) -> None:
    """The operator stores it and the coordinator reads it, with access rules from before there were any."""
    query, signer = a_query("early"), Signer.of("a key of sixteen bytes")

    def bus_of(user: str, signer: Signer | None) -> Bus:
        return Bus(Connections(server.url_of(f"{user}:{user}")), KEYS, BusSettings(), signer=signer)

    operator, signed, coordinator = (
        bus_of("operator", None),
        bus_of("operator", signer),
        bus_of("coordinator", signer),
    )
    for bus in (operator, signed, coordinator):
        await bus.open(60)
    cancellation = an_event(CancellationRequested(reason="enough"), "early")
    cancellation = cancellation.model_copy(update={"causationid": query.id})
    assert await cancellation_reason(coordinator, query) is None
    await keep_cancellation(operator, cancellation)
    assert await cancellation_reason(coordinator, query) is None, "it is unsigned"
    await keep_cancellation(signed, cancellation)
    assert await cancellation_reason(coordinator, query) == "enough"
    assert await cancellation_reason(coordinator, a_query("early")) is None, (
        "it is another query under the same id"
    )
    for bus in (operator, signed, coordinator):
        await bus.close()
