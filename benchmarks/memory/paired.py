"""Ours against the plainest method that has seen as much, question by question, with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

from rich.table import Table

from benchmarks.memory.measure import OURS, Outcome

PEER = "BM25 + titles + searches"
_DRAWS = 2_000
_SEED = 1


@dataclass(frozen=True)
class Difference:
    """The recall that ours keeps above the peer for the questions of one kind at one budget."""

    kind: str
    share: float
    recall: float
    low: float
    high: float
    """The bounds of 95 % of the means of samples drawn from the questions (bootstrap)."""
    answers: float | None
    """What ours holds more of the final answers; None where the set names none."""


def differences(outcomes: Sequence[Outcome]) -> list[Difference]:
    """Return the differences by kind and budget; none where one of the two methods was not measured."""
    by_method = {
        method: {(one.kind, one.share, one.id): one for one in outcomes if one.method == method}
        for method in (OURS, PEER)
    }
    pairs = [(one, by_method[PEER][key]) for key, one in by_method[OURS].items() if key in by_method[PEER]]
    groups: dict[tuple[str, float], list[tuple[Outcome, Outcome]]] = {}
    for ours, peer in pairs:
        groups.setdefault((ours.kind, ours.share), []).append((ours, peer))
    return [_difference(kind, share, group) for (kind, share), group in groups.items()]


def paired_table(differences: Sequence[Difference]) -> Table:
    """Return the differences as a table."""
    table = Table(title=f"{OURS} - {PEER}, paired", title_justify="left", title_style="bold")
    for heading in ("kind", "budget", "recall", "95 % interval", "final answers"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for one in differences:
        answers = "" if one.answers is None else f"{one.answers:+.3f}"
        interval = f"{one.low:+.3f} to {one.high:+.3f}"
        table.add_row(one.kind, f"{one.share:g} %", f"{one.recall:+.3f}", interval, answers)
    return table


def _difference(kind: str, share: float, pairs: Sequence[tuple[Outcome, Outcome]]) -> Difference:
    recalls = [ours.recall - peer.recall for ours, peer in pairs]
    random = Random(_SEED)
    means = sorted(mean(random.choices(recalls, k=len(recalls))) for _ in range(_DRAWS))
    answers = [
        ours.has_answer - peer.has_answer
        for ours, peer in pairs
        if ours.has_answer is not None and peer.has_answer is not None
    ]
    return Difference(
        kind,
        share,
        mean(recalls),
        means[int(0.025 * _DRAWS)],
        means[int(0.975 * _DRAWS)],
        mean(answers) if answers else None,
    )
