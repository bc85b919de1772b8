"""The effects of a change on recorded sessions: one sentence for each decision, with its sessions. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from antiphon_shared.text.excerpt import list_names

from antiphon.replay.against.changes import Change, Compared, StepChange
from antiphon.replay.differences import ABSENT, first_field

_EVENT = "antiphon."
_NAMES_MAX = 4
_REQUEST_PARTS = {"system": "system prompt", "messages": "messages", "tools": "tools"}


@dataclass(frozen=True, slots=True)
class Case:
    """A session with a changed decision, and its first step with that change."""

    path: str
    session_id: str
    step: StepChange


@dataclass(frozen=True, slots=True)
class Decision:
    """A change in the decisions of the code."""

    sentence: str
    """The new behaviour, with the verb in the plural: `end in round 2 instead of 3`."""
    cases: tuple[Case, ...]
    steps: int
    """The number of steps with this change."""
    causes: tuple[str, ...] = ()
    """The differing source that ran in the first case: `coordinator/limits.py: exhausted`."""

    @property
    def words(self) -> str:
        """Return `12 sessions now end in round 2 instead of 3`, with the causes if they are known."""
        count = len(self.cases)
        verb, _, rest = self.sentence.partition(" ")
        sessions = f"{count} sessions now {verb}" if count != 1 else f"1 session now {verb}s"
        because = (
            f", because {list_names(self.causes, _NAMES_MAX)} differ{'' if len(self.causes) > 1 else 's'}"
        )
        return f"{sessions} {rest}".rstrip() + (because if self.causes else "")


def count_decisions(compared: Iterable[tuple[Compared, str | None]]) -> list[Decision]:
    """Return the decisions by weight: how sessions end, then their course, then the content of a step.

    `compared` has, for each recording, also the new course of its session in words, if that is known.
    """
    cases: dict[tuple[int, str], dict[str, Case]] = {}
    steps: dict[tuple[int, str], int] = {}
    for one, path_difference in compared:
        for weight, sentence, step in _sentences(one.steps, path_difference):
            key = (weight, sentence)
            cases.setdefault(key, {}).setdefault(one.path, Case(one.path, one.session_id, step))
            steps[key] = steps.get(key, 0) + 1
    ordered = sorted(cases, key=lambda key: (key[0], -len(cases[key]), key[1]))
    return [Decision(key[1], tuple(cases[key].values()), steps[key]) for key in ordered]


def _sentences(
    steps: Sequence[StepChange], path_difference: str | None
) -> Iterable[tuple[int, str, StepChange]]:
    """Yield the new behaviour of each step, with its weight.

    For the first step that changes the course of the session, the sentence is about that course; later differences
    in the coordinator's events are omitted, as the session would not reach them.
    """
    is_reported = False
    for step in steps:
        is_sent = step.component == "coordinator" and bool(step.sent)
        if path_difference is None or not is_sent:
            yield (*_sentence(step), step)
        elif not is_reported:
            is_reported = True
            yield 0, path_difference, step


def _sentence(step: StepChange) -> tuple[int, str]:
    changes = step.changes
    if failed := next((one for one in changes if one.output == "outputs"), None):
        return 1, _failure(failed, step)
    match step.component:
        case "coordinator":
            return _decided(step)
        case "context_synthesizer":
            return 4, _briefed(changes)
        case "reasoning_engine":
            return _exchanged(changes)
        case "response_assembler":
            return 6, f"get another answer: {_fields(changes)}"
        case "tool_dispatcher":
            return 3, f"run a batch differently: {_fields(changes)}"
        case component:
            return 8, f"differ in {component}: {_fields(changes)}"


def _failure(change: Change, step: StepChange) -> str:
    if change.now != change.recorded:
        return f"fail in {step.component}: {change.now}"
    return f"succeed in {step.component}, where before {change.before}"


def _decided(step: StepChange) -> tuple[int, str]:
    sent = step.sent
    if kind := next((one for one in sent if not one.path), None):
        return 2, f"send {_short(kind.now)} instead of {_short(kind.before)}"
    for name in ("termination_reason", "status"):
        if end := next((one for one in sent if one.path == name), None):
            return 0, f"end with {end.now} instead of {end.before}"
    if sent:
        return 2, f"send another {_short(sent[0].output)}: {_fields(sent)}"
    return 7, f"hold another state in the coordinator: {_fields(step.changes)}"


def _briefed(changes: Sequence[Change]) -> str:
    tokens = next((one for one in changes if one.path == "briefing.tokens"), None)
    if tokens is not None and isinstance(tokens.before, int) and isinstance(tokens.now, int):
        return f"get {'shorter' if tokens.now < tokens.before else 'longer'} briefings"
    if any(one.path.startswith("briefing.") for one in changes):
        return "get other briefings of the same length"
    return f"file a round differently: {_fields(changes)}"


def _exchanged(changes: Sequence[Change]) -> tuple[int, str]:
    if parts := [one.path.partition(".")[2] for one in changes if one.output == "request"]:
        names = dict.fromkeys(
            _REQUEST_PARTS.get(first_field(part), first_field(part) or "request") for part in parts
        )
        return 5, f"send the model another {list_names(tuple(names), _NAMES_MAX)}"
    return 3, f"read the model's reply differently: {_fields(changes)}"


def _fields(changes: Sequence[Change]) -> str:
    """Return the differing fields, each once."""
    names: dict[str, None] = {}
    for one in changes:
        field = first_field(one.path)
        is_plain = one.output.startswith(_EVENT) or not field
        names[field or _short(one.output) if is_plain else f"{one.output} {field}"] = None
    return list_names(tuple(names), _NAMES_MAX)


def _short(type: object) -> str:
    text = str(type)
    if text == ABSENT:
        return "nothing"
    return text.removeprefix(_EVENT).rpartition(".")[0] if text.startswith(_EVENT) else text
