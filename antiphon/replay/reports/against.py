"""The effects of a change on recordings: in words and as JSON. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from antiphon_shared.text.excerpt import list_names

from antiphon.replay.against.changes import Compared, Kind
from antiphon.replay.against.decisions import Decision
from antiphon.replay.reports.as_json import json_text
from antiphon.replay.reports.change_lines import change, printable
from antiphon.replay.reports.text import reasons

_DECISIONS_MAX = 20
_NAMES_MAX = 5
_LINES_MAX = 12
"""The limit for the first change of a decision."""


@dataclass(frozen=True)
class Summary:
    """The whole comparison with one other version."""

    label: str
    """The label of the other version."""
    commit: str
    recordings: Sequence[Compared]
    decisions: Sequence[Decision]
    allowed: str = ""
    """The reason why steps may go unchecked; empty if they may not."""

    @property
    def counts(self) -> Counter[Kind]:
        return Counter(one.result for one in self.recordings)

    @property
    def result(self) -> Kind:
        """Return the worst result of all; an unreadable recording, which may hide any change, is the worst."""
        worst: tuple[Kind, ...] = ("unreadable", "changed", "unchecked")
        return next((kind for kind in worst if self.counts[kind]), "same")

    @property
    def unchecked(self) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for one in self.recordings:
            counts.update(one.unchecked)
        return counts


def reported(summary: Summary) -> Iterator[str]:
    """Yield the lines for a terminal: unreadable recordings, then the decisions."""
    for one in summary.recordings:
        if one.errors:
            yield f"{printable(one.path)}: unreadable {printable('; '.join(_errors(one)))}"
    for decision in summary.decisions[:_DECISIONS_MAX]:
        yield printable(decision.words)
        yield from (f"  {line}" for line in _first(decision))
        if others := [printable(case.path) for case in decision.cases[1:]]:
            yield f"  also: {list_names(others, _NAMES_MAX)}"
    if (more := len(summary.decisions) - _DECISIONS_MAX) > 0:
        yield f"{more} more decisions; --json lists all."


def headline(summary: Summary) -> str:
    """Return the summary in one line."""
    count = len(summary.recordings)
    words = f"{count} recording{'s' if count != 1 else ''} against {printable(summary.label)}: {_counted(summary)}"
    alike = sum(one.alike for one in summary.recordings)
    if alike:
        words += f"; {alike} divergence{'s' if alike != 1 else ''} from the record that both have"
    return f"{words}; {_unchecked(summary)}" if summary.unchecked else words


def document(summary: Summary) -> str:
    """Return the summary as JSON, for programs."""
    return json_text(
        {
            "result": summary.result,
            "against": {"name": summary.label, "commit": summary.commit},
            "counts": {"same": 0, "changed": 0, "unchecked": 0, "unreadable": 0} | summary.counts,
            "unchecked": dict(summary.unchecked),
            "allowed_unchecked": summary.allowed or None,
            "decisions": [_decision(one) for one in summary.decisions],
            "recordings": [_recording(one) for one in summary.recordings],
        }
    )


def _unchecked(summary: Summary) -> str:
    allowed = f"; allowed: {printable(summary.allowed)}" if summary.allowed else ""
    return f"not checked: {reasons(summary.unchecked)}{allowed}"


def _counted(summary: Summary) -> str:
    kinds: tuple[Kind, ...] = ("changed", "unchecked", "unreadable", "same")
    counts = summary.counts
    return ", ".join(f"{counts[kind]} {kind}" for kind in kinds if counts[kind]) or "none"


def _first(decision: Decision) -> Iterator[str]:
    case, one = decision.cases[0], decision.cases[0].step.first
    yield f"first: {printable(case.path)}, event {case.step.event} ({printable(case.step.type)})"
    yield f"{one.component}, {printable(f'{one.output} {one.path}'.strip())}:"
    yield from (f"  {line}" for line in change(one.before, one.now, _LINES_MAX))


def _errors(one: Compared) -> list[str]:
    return [f"{version}: {error}" for version, error in one.errors.items()]


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "words": decision.words,
        "sentence": decision.sentence,
        "sessions": len(decision.cases),
        "steps": decision.steps,
        "causes": list(decision.causes),
        "first": {"path": decision.cases[0].path, **asdict(decision.cases[0].step)},
        "recordings": [case.path for case in decision.cases],
    }


def _recording(one: Compared) -> dict[str, Any]:
    return {
        "path": one.path,
        "session_id": one.session_id,
        "result": one.result,
        "errors": _errors(one),
        "unchecked": dict(one.unchecked),
        "alike": one.alike,
        "changes": [asdict(change) for step in one.steps for change in step.changes],
    }
