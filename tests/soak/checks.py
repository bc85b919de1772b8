"""The checks after the load: each promise, and its violations."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tests.soak.disturbances import Done
from tests.soak.load import Asked, Load
from tests.soak.reported_writes import disagreements
from tests.soak.samples import MEGABYTES, Samples, Trend, trend
from tests.soak.stage import ELDERS, LEASE_S, REDIS, Stage

MARGIN_S = 10.0
"""The longest delay of an answer after its deadline without disturbances. The coordinator gives the assembler three
leases before it answers itself."""
RECOVERY_S = 2 * LEASE_S
"""The delay of a session by a disturbance, beyond its duration: messages in flight are then reclaimed."""
GROWTH_MB = 12.0
"""The growth that counts as flat memory, between the first and the last quarter of a process's samples."""
CACHES_MB = {"context_synthesizer": 50.0}
"""Additional memory that a process keeps on purpose: the indexes of its last thousand sessions."""
EFFECT_BYTES = 2_000
"""The size of a write's record, which outlives its session on purpose."""
OPEN_GROWTH = 12
FLAT_AFTER_S = 180.0
"""Only longer rows of samples are checked for trends."""

FIXED = re.compile(
    r"queries|queries:rejected|catalogue|format|breakers|workers:\w+|\{\d+\}:(inbox:\w+|responses|events|dead|sessions)"
)
"""Permanent keys, without the namespace; each is bounded."""
_OF_SESSION = re.compile(r"\{\d+\}:session:([^~:][^:]*):")
"""A session's key. `~cancelled` has cancellations of queries, which belong to clients."""
_LIKE_EFFECTS = ("writes", "writes:order")
"""The keys of a session's writes, which expire with the records of the writes."""
_NEVER = -1
"""The PTTL of a key that does not expire; an expired one has -2."""


@dataclass(slots=True)
class Promise:
    """A promise, the number of its checks, and its violations."""

    name: str
    seen: str
    broken: list[str] = field(default_factory=list)


def after_the_calm(
    stage: Stage, load: Load, history: Sequence[Done], ended_badly: Sequence[str]
) -> list[Promise]:
    """Check the promises about sessions and messages while the keys of sessions are still stored."""
    return [
        _answered_once(load),
        _in_time(load, history),
        Promise(
            "each log is whole, and says what the client got", f"{load.audited} logs", list(load.problems)
        ),
        _writes(stage, load),
        _rejected(stage, load),
        _nothing_left(stage),
        _dead_letters(stage),
        Promise("processes end when asked to, with 0, and never by themselves", "", list(ended_badly)),
    ]


def _answered_once(load: Load) -> Promise:
    broken = [f"{session_id} was answered, and nobody asked" for session_id in load.strangers]
    broken += [
        f"{one.question.session_id} ({one.question.kind}) has {len(one.answers)} answers; {one.missed}"
        for one in load.asked.values()
        if one.accepted_s and len(one.answers) != 1
    ]
    if not _accepted(load):
        broken.append("no query was accepted at all")
    return Promise("every accepted query has exactly one answer", f"{_accepted(load)} queries", broken)


def _in_time(load: Load, history: Sequence[Done]) -> Promise:
    late: list[float] = []
    broken: list[str] = []
    for one in load.asked.values():
        if one.accepted_s is None or one.answered_s is None:
            continue
        beyond_s = one.answered_s - one.submitted_s - one.question.deadline_s
        late.append(max(0.0, beyond_s))
        allowed_s = MARGIN_S + (one.accepted_s - one.submitted_s) + held_up_s(one, history)
        if beyond_s > allowed_s:
            broken.append(
                f"{one.question.session_id} ({one.question.kind}) was answered {beyond_s:.1f} s after its deadline of "
                f"{one.question.deadline_s:g} s; {allowed_s:.1f} s were allowed"
            )
    return Promise(
        "an answer comes shortly after its deadline at the latest", f"beyond it: {_spread(late)}", broken
    )


def held_up_s(asked: Asked, history: Sequence[Done]) -> float:
    """Return the longest delay of a session by the disturbances of its time."""
    assert asked.answered_s is not None
    total_s = 0.0
    for done in history:
        ended_s = (done.ended_s or asked.answered_s) + done.shift_s
        if done.began_s < asked.answered_s and ended_s + RECOVERY_S > asked.submitted_s:
            total_s += ended_s - done.began_s + RECOVERY_S
    return total_s


def _writes(stage: Stage, load: Load) -> Promise:
    effects = stage.service.effects()
    done = sum(len(its_effects) for its_effects in effects.values())
    unknown = sum(write.is_unknown for write in load.writes)
    seen = f"{len(load.writes)} writes, {done} effects, {unknown} reported as unknown"
    return Promise(
        "no write has two effects, and every report is true", seen, list(disagreements(load.writes, effects))
    )


def _rejected(stage: Stage, load: Load) -> Promise:
    count = int(stage.client.xlen(stage.keys.rejected()))
    is_kept = load.junk_sent <= count <= load.junk_tried
    summary = f"{load.junk_sent} to {load.junk_tried} were submitted, and {count} were set aside"
    return Promise(
        "what cannot be understood is set aside, once", f"{count} set aside", [] if is_kept else [summary]
    )


def _nothing_left(stage: Stage) -> Promise:
    left = {key: size for key, size in stage.left_over(with_dead=False).items() if size}
    return Promise(
        "no message, timer or session is left", "", [f"{key}: {size} left" for key, size in left.items()]
    )


def _dead_letters(stage: Stage) -> Promise:
    partitions = range(stage.keys.partitions)
    letters = [fields for p in partitions for _, fields in stage.entries(stage.keys.dead(p))]
    return Promise(
        "nothing became a dead letter", f"{len(letters)} letters", [_shown(one) for one in letters]
    )


def _shown(letter: Mapping[bytes, bytes]) -> str:
    return ", ".join(
        f"{name.decode()}: {content[:300].decode(errors='replace')}" for name, content in letter.items()
    )


def no_orphans(stage: Stage, kept: Collection[str]) -> Promise:
    """Check that every key is fixed, of a stored session, or expires; an ended session has only its index of writes."""
    kinds: Counter[str] = Counter()
    broken: list[str] = []
    for raw in stage.client.scan_iter(count=1_000):
        key = raw.decode().removeprefix(f"{stage.keys.namespace}:")
        owner = _OF_SESSION.match(key)
        kinds[pattern_of(key)] += 1
        is_index = owner is not None and key[owner.end() :] in _LIKE_EFFECTS
        if owner and owner[1] not in kept and not is_index:
            broken.append(f"{key} has outlived its session")
        elif not FIXED.fullmatch(key) and stage.client.pttl(raw) == _NEVER:
            broken.append(f"{key} never expires")
    known = len(stage.session_ids())
    if known > len(kept):
        broken.append(f"{known} sessions are listed, and {len(kept)} are kept")
    seen = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return Promise(f"no key is an orphan, with {len(kept)} sessions kept", seen, broken)


def redis_is_small(stage: Stage, samples: Samples) -> Promise:
    """Check that after the retention Redis has its initial memory, and the records of writes."""
    samples.take()
    row = samples.rows[REDIS, 0]
    first, last = row[0].rss_mb, row[-1].rss_mb
    effects = sum(map(len, stage.service.effects().values()))
    allowed = first + GROWTH_MB + effects * EFFECT_BYTES / MEGABYTES
    broken = [f"{allowed:.1f} MB were allowed"] if last > allowed else []
    most = max(sample.rss_mb for sample in row)
    seen = f"{first:.1f} MB at first, {most:.1f} at most, {last:.1f} at last"
    return Promise("Redis is as small as before when all is forgotten", seen, broken)


def pattern_of(key: str) -> str:
    """Return the kind of a key, by the words that all keys of the kind share."""
    if FIXED.fullmatch(key):
        return "fixed"
    if "queries:rejected" in key:
        return "rejection"
    found = re.match(r"(?:\{\d+\}:)?([a-z:]+)", key)
    return found[1].strip(":") if found else key


def flat(samples: Samples, since_s: float, until_s: float) -> tuple[Promise, dict[str, Trend]]:
    """Check memory, files and connections of long-lived processes under load. Returns the trends of memory by name."""
    broken: list[str] = []
    trends: dict[str, Trend] = {}
    for (name, _), every in samples.rows.items():
        row = [sample for sample in every if since_s <= sample.at_s <= until_s]
        if name not in ELDERS or not row or row[-1].at_s - row[0].at_s < FLAT_AFTER_S:
            continue
        memory, open_sessions = trend(row, "rss_mb"), trend(row, "open")
        trends[name] = memory
        if memory.last - memory.first > GROWTH_MB + CACHES_MB.get(name, 0.0):
            broken.append(f"{name} has grown from {memory.first:.1f} to {memory.last:.1f} MB")
        if open_sessions.last - open_sessions.first > OPEN_GROWTH:
            broken.append(
                f"{name} has {open_sessions.last:.0f} files or connections open, after {open_sessions.first:.0f}"
            )
    seen = f"{len(trends)} rows" if trends else "too short to be judged"
    return Promise("memory, files and connections of processes stay flat", seen, broken), trends


def _accepted(load: Load) -> int:
    return sum(1 for one in load.asked.values() if one.accepted_s)


def _spread(values: Sequence[float]) -> str:
    """Return median, 99th percentile and maximum, in seconds."""
    if not values:
        return "none"
    row = sorted(values)
    return f"p50 {row[len(row) // 2]:.1f} s, p99 {row[len(row) * 99 // 100]:.1f} s, max {row[-1]:.1f} s"
