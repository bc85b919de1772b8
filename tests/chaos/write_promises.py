"""The promises about every write under any kills, checked against the service's own records.

A write of each kind has one effect at most. The key that is honoured, and the one that can be asked for, have
exactly one, and its receipt is the reported one. Of a plain write the outcome is unknown if, and only if, it was cut
off between its claim and its settling; it has run once at most, and its effect may be there or not, or still come:
only the service knows a request that was in flight, or that a frozen process sends when it resumes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast

from antiphon_shared.events import AnyEvent, ToolsCompleted
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.journal import journal_name, outcomes

from tests.chaos.write_effects import Effect
from tests.chaos.write_states import KINDS, Kind
from tests.chaos.writers import Writers, key_of


@dataclass(frozen=True, slots=True)
class Answered:
    """The reported outcomes of the writes of some sessions."""

    writes: int
    effects: int
    unknown: int
    overrun: int
    """Unknown writes that were not cut off: their process did not renew their lease in time."""


def assert_kept(two: Writers, session_ids: Collection[str]) -> Answered:
    """Check every promise for every write of these sessions."""
    answers = _answers(two, session_ids)
    effects = two.service.effects()
    unknown: list[str] = []
    done = 0
    for session_id, results in answers.items():
        assert _journal(two, session_id) == results, "the journal differs from the results"
        look_up, *writes = results
        assert look_up.status == "ok", look_up
        for kind, result in zip(KINDS, writes, strict=True):
            key = key_of(session_id, kind)
            its_effects = effects.get(key, [])
            done += len(its_effects)
            assert len(its_effects) <= 1, f"{kind} took effect {len(its_effects)} times: {key}"
            if kind == "plain" and result.status == "error":
                _assert_unknown(two, key, result)
                unknown.append(key)
            else:
                _assert_done(two, kind, key, result, its_effects, look_up)
    overrun = [key for key in unknown if key not in two.cut]
    _assert_overrun(two, overrun)
    return Answered(len(KINDS) * len(answers), done, len(unknown), len(overrun))


def _answers(two: Writers, session_ids: Collection[str]) -> dict[str, tuple[ToolResult, ...]]:
    """Return the answer to each batch: once, and with a result for each of its calls, in order."""
    wanted = set(session_ids)
    answers: dict[str, AnyEvent] = {}
    for event in two.answers():
        if event.subject in wanted:
            assert event.subject not in answers, f"{event.subject} was answered twice"
            assert isinstance(event.data, ToolsCompleted), event
            assert event.causationid == two.asked[event.subject].id
            answers[event.subject] = event
    assert wanted == set(answers), f"not answered: {wanted - set(answers)}"
    by_session = {
        session_id: cast(ToolsCompleted, event.data).results for session_id, event in answers.items()
    }
    for results in by_session.values():
        assert [result.call_id for result in results] == ["look_up", *KINDS]
    return by_session


def _assert_done(
    two: Writers,
    kind: Kind,
    key: str,
    result: ToolResult,
    effects: Sequence[Effect],
    look_up: ToolResult,
) -> None:
    assert result.status == "ok", f"{result}, runs: {two.runs.of(key)}"
    assert len(effects) == 1, f"{kind} was reported as done, and has {len(effects)} effects: {key}"
    (effect,) = effects
    assert result.data["receipt"] == effect.receipt, f"{result} is not the effect of {key}"
    assert effect.what == look_up.data["found"], f"{key} was run with other arguments"
    runs = [run.run for run in two.runs.of(key)]
    assert result.data["run"] in (*runs, None), f"{result} belongs to none of the runs {runs}"
    if kind == "plain":
        assert len(runs) == 1, f"a plain write ran {len(runs)} times: {key}"
        assert key not in two.cut, f"{key} was cut off, and is reported as done"


def _assert_unknown(two: Writers, key: str, result: ToolResult) -> None:
    assert result.error is not None
    assert result.error.error_type == "outcome_unknown", result
    runs = two.runs.of(key)
    assert len(runs) <= 1, f"a plain write ran {len(runs)} times: {key}"


def _assert_overrun(two: Writers, keys: Sequence[str]) -> None:
    """Check that unknown writes whose process was not disturbed were taken over, because their lease expired."""
    for key, record in two.records(keys).items():
        assert record.fence > 1, f"{key} is reported as unknown, and was not cut off: {two.runs.of(key)}"


def _journal(two: Writers, session_id: str) -> tuple[ToolResult, ...]:
    key = two.keys.of_session(session_id, journal_name(1))
    entries = cast("dict[bytes, bytes]", two.client.hgetall(key))
    return outcomes({name.decode(): content for name, content in entries.items()})
