"""A session's own log, read when it is answered, and compared with the service's records at the end.

`read_log` is pure. A write is recorded in its session's log, in the batch's journal, in its record in Redis and by
the service that received it; the service's record is the truth.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import ToolResult

from tests.chaos.write_effects import Effect
from tests.chaos.write_states import KINDS
from tests.flows.processes import Log
from tests.write_keys import key_of_call

Journals = Mapping[int, Sequence[ToolResult]]
"""The outcomes in the journal of each round."""

_UNCERTAINTIES = ("outcome_unknown", "call_unfinished")


@dataclass(frozen=True, slots=True)
class ReportedWrite:
    """A write that a session requested, and its reported outcome."""

    session_id: str
    key: str
    tool: str
    result: ToolResult | None
    """None: the session ended before its batch was answered."""
    is_reported: bool
    """Whether its outcome is in the journal, or the answer reports it as unknown."""

    @property
    def is_unknown(self) -> bool:
        return self.result is not None and _type_of(self.result) == "outcome_unknown"

    @property
    def owns_effect(self) -> bool:
        """True if the session's report says that it took effect, or may have."""
        if self.result is None:
            return self.is_reported
        return self.result.status == "ok" or self.is_unknown


@dataclass(slots=True)
class Account:
    """The content of one session's log, and its faults."""

    writes: list[ReportedWrite] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_log(session_id: str, log: Log, journals: Journals, response: Response) -> Account:
    """Return the writes of a session that has ended, and whether its log is complete."""
    account = Account(problems=[f"{session_id}: {problem}" for problem in _faults(log, response)])
    uncertainties = {uncertainty.kind for uncertainty in response.uncertainty}
    completed = {event["causationid"]: event for event in _before_the_end(log, "tools.completed")}
    for asked in _before_the_end(log, "tools.requested"):
        answered = completed.get(asked["id"])
        results = _results(answered["data"]) if answered else {}
        journal = {result.call_id: result for result in journals.get(asked["data"]["round"], ())}
        if answered and any(journal.get(id, result) != result for id, result in results.items()):
            account.problems.append(f"{session_id}: the journal differs from the log")
        is_unknown = any(_type_of(result) == "outcome_unknown" for result in results.values())
        if is_unknown and "outcome_unknown" not in uncertainties:
            account.problems.append(f"{session_id}: the answer does not report an unknown outcome")
        for call in asked["data"]["calls"]:
            if call["name"] in KINDS:
                is_reported = (
                    bool(answered)
                    or call["id"] in journal
                    or bool(uncertainties.intersection(_UNCERTAINTIES))
                )
                result = results.get(call["id"])
                key = key_of_call(asked, call, is_write=True)
                account.writes.append(ReportedWrite(session_id, key, call["name"], result, is_reported))
    return account


def disagreements(writes: Sequence[ReportedWrite], effects: Mapping[str, Sequence[Effect]]) -> Iterator[str]:
    """Yield the differences between the reports of writes and the service's records."""
    for key, its_effects in effects.items():
        if len(its_effects) > 1:
            yield f"{key} took effect {len(its_effects)} times"
    known = {write.key for write in writes}
    owned = {write.key for write in writes if write.owns_effect}
    yield from (f"{key} took effect, and no session asked for it" for key in effects if key not in known)
    for write in writes:
        yield from _disagreements(write, effects.get(write.key, ()), write.key in owned)


def _disagreements(write: ReportedWrite, effects: Sequence[Effect], is_owned: bool) -> Iterator[str]:
    """Yield the differences of a write's report; `is_owned`: a call with the same key owns the effect.

    A call that certainly had no effect may be made again, and then runs under the same key.
    """
    what = f"{write.session_id}: {write.tool} {write.key}"
    if write.result is None:
        if effects and not write.is_reported:
            yield f"{what} took effect after the session had ended, and the answer does not report it"
    elif write.result.status == "ok":
        if [effect.receipt for effect in effects] != [write.result.data["receipt"]]:
            yield f"{what} was reported as done with {write.result.data}, and the service has {effects}"
    elif not write.is_unknown and effects and not is_owned and _type_of(write.result) != "repeated_write":
        yield f"{what} was reported as {_type_of(write.result)}, and took effect"


def _faults(log: Log, response: Response) -> Iterator[str]:
    """Yield the faults in the log of an ended session: a gap, a repeat, or another answer."""
    kinds = Counter(kind_of(event) for event in log)
    for kind in ("query.submitted", "session.opened", "response.ready"):
        if kinds[kind] != 1:
            yield f"{kinds[kind]} times {kind} in its log"
    ids = [event["id"] for event in log]
    if len(set(ids)) != len(ids):
        yield "an event stands in its log twice"
    seen: set[str] = set()
    for event in log:
        if event.get("causationid") not in (None, *seen):
            yield f"{kind_of(event)} follows from an event that is not there"
        seen.add(event["id"])
    for event in log:
        if kind_of(event) == "response.ready" and event["data"]["answer"] != response.answer:
            yield "its log has another answer than the client got"


def _before_the_end(log: Log, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the events of one kind that came before the answer was asked for."""
    for event in log:
        if kind_of(event) == "assembly.requested":
            return
        if kind_of(event) == kind:
            yield event


def _results(completed: Mapping[str, Any]) -> dict[str, ToolResult]:
    results = [ToolResult.model_validate(result) for result in completed["results"]]
    return {result.call_id: result for result in results}


def _type_of(result: ToolResult) -> str:
    return result.error.error_type if result.error else ""


def kind_of(event: Mapping[str, Any]) -> str:
    """Return an event's short type, such as `query.submitted` for `antiphon.query.submitted.v1`."""
    return str(event["type"]).removeprefix("antiphon.").removesuffix(".v1")
