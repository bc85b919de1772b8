"""The outcomes as tables, and as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.memory.measure import OURS, Outcome
from benchmarks.memory.ours import Filed
from benchmarks.memory.paired import differences, paired_table

TARGETS = {
    "four-hop": {10: 0.75, 20: 0.87},
    "two-hop": {10: 0.95, 20: 0.99},
    "conversation": {10: 0.82, 20: 0.88},
}
"""What ours has to reach, by family of questions and percent of the raw tokens."""
_NAMED = {
    "four-hop": "four-hop", "4hop": "four-hop", "4-hop": "four-hop",
    "two-hop": "two-hop", "2hop": "two-hop", "2-hop": "two-hop", "hotpot": "two-hop", "2wiki": "two-hop",
    "conversation": "conversation", "locomo": "conversation", "dialog": "conversation",
    "3hop": "", "3-hop": "", "musique": "four-hop",
}  # fmt: skip  # a table
"""What stands in a kind's name -> whose targets it has; the first that fits."""
_EDGES = (50, 125, 175, 400)
TIME_MS = 5.0
"""At 150 stored passages, of 95 % of the rounds."""


def show(console: Console, outcomes: Sequence[Outcome], grown: Mapping[str, Any]) -> None:
    """Print every kind's table, then the times and the growth of ours where it was measured."""
    for kind in dict.fromkeys(one.kind for one in outcomes):
        console.print(recall_table(kind, [one for one in outcomes if one.kind == kind]))
    if pairs := differences(outcomes):
        console.print(paired_table(pairs))
    if not grown:
        return
    console.print(time_table(grown["times"]))
    console.print(f"[bold]One session of {grown['rounds']} rounds, {grown['passages']} passages[/]")
    for name in ("bytes", "microseconds"):
        fit = grown[name]
        console.print(
            f"  {name} of a round: {fit['start']:,.0f} {fit['per_round']:+,.1f} for each round before it"
            f" (R² {fit['explained']:.2f}); last quarter over first: {fit['late_over_early']:.2f}"
        )
    for tokens, share in grown["unchanged"].items():
        own = grown["unchanged_in_the_set"][tokens]
        console.print(
            f"  beginning unchanged from round to round at {int(tokens):,} tokens: {share:.0%};"
            f" in the set's longest sessions: {own:.0%}"
        )


def target(kind: str, share: float) -> float | None:
    """Return the target of our method for questions of that kind, by its name."""
    named = kind.lower().replace("_", "-").replace(" ", "-")
    family = next((family for word, family in _NAMED.items() if word in named), "")
    return TARGETS.get(family, {}).get(int(share))


def recall_table(kind: str, outcomes: Sequence[Outcome]) -> Table:
    """Return the table of one kind of question: methods down, budgets across; recall, and questions with all gold."""
    shares = sorted({one.share for one in outcomes})
    methods = list(dict.fromkeys(one.method for one in outcomes))
    of_first = [one for one in outcomes if (one.method, one.share) == (methods[0], shares[0])]
    raw = mean(one.tokens_max / one.share * 100 for one in of_first)
    title = f"{kind}: {len(of_first)} questions, {raw:,.0f} raw tokens each"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("recall (all gold)", min_width=22)
    for share in shares:
        table.add_column(f"{share:g} %", justify="right")
    table.add_column("over", justify="right")
    table.add_column("µs, median / 95 %", justify="right")
    for method in methods:
        own = [one for one in outcomes if one.method == method]
        cells = [_cell(kind, method, share, [one for one in own if one.share == share]) for share in shares]
        over = sum(one.is_over for one in own)
        times = [t for one in own for t in one.microseconds]
        style = "bold" if method == OURS else None
        table.add_row(
            method,
            *cells,
            f"[red]{over}[/]" if over else "0",
            "{:,.0f} / {:,.0f}".format(*spread(times)),
            style=style,
        )
    return table


def time_table(buckets: Sequence[Mapping[str, float]]) -> Table:
    """Time of a round of ours, by the passages stored after it."""
    table = Table(title="Time of a round, filing and briefing", title_justify="left", title_style="bold")
    for heading in ("passages stored", "rounds", "median", "95 %", "target"):
        table.add_column(heading, justify="left" if heading == "target" else "right")
    for bucket in buckets:
        low, high, median, late = (bucket[name] for name in ("least", "most", "us_median", "us_95"))
        is_met = late < TIME_MS * 1000
        aim = f"{'met' if is_met else 'missed'} 95 % under {TIME_MS:g} ms" if low <= 150 <= high else ""
        table.add_row(
            f"{low}-{high}", str(bucket["rounds"]), f"{median / 1000:.2f} ms", f"{late / 1000:.2f} ms", aim
        )
    return table


def by_passages(outcomes: Iterable[Outcome], timed: Iterable[Filed]) -> list[dict[str, float]]:
    """Return the times of our rounds by the passages stored."""
    rounds = [
        pair
        for one in outcomes
        if one.method == OURS
        for pair in zip(one.passages, one.microseconds, strict=True)
    ]
    rounds += [(one.passages, one.microseconds) for one in timed]
    buckets = []
    for low, high in zip((1, *(edge + 1 for edge in _EDGES)), _EDGES, strict=False):
        times = [time for passages, time in rounds if low <= passages <= high]
        if times:
            median, late = spread(times)
            buckets.append(
                {"least": low, "most": high, "rounds": len(times), "us_median": median, "us_95": late}
            )
    return buckets


def spread(times: Sequence[float]) -> tuple[float, float]:
    """Return median and 95th percentile."""
    if len(times) < 2:
        return (times[0], times[0]) if times else (0.0, 0.0)
    cuts = quantiles(times, n=20, method="inclusive")
    return cuts[9], cuts[18]


def as_json(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return one object for each kind, method and budget."""
    groups: dict[tuple[str, str, float], list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault((one.kind, one.method, one.share), []).append(one)
    return [
        {
            "kind": kind,
            "method": method,
            "share_percent": share,
            "questions": len(group),
            "recall": round(mean(one.recall for one in group), 4),
            "all_gold": round(mean(not one.missing for one in group), 4),
            "target": target(kind, share) if method == OURS else None,
            "over_budget": sum(one.is_over for one in group),
            "tokens_max_mean": round(mean(one.tokens_max for one in group), 1),
            "tokens_mean": round(mean(one.tokens for one in group), 1),
            "round_us_median": round(spread([t for one in group for t in one.microseconds])[0]),
            "round_us_95": round(spread([t for one in group for t in one.microseconds])[1]),
        }
        for (kind, method, share), group in groups.items()
    ]


def _cell(kind: str, method: str, share: float, outcomes: Sequence[Outcome]) -> str:
    recall, whole = mean(one.recall for one in outcomes), mean(not one.missing for one in outcomes)
    cell = f"{recall:.2f} ({whole:.2f})"
    aim = target(kind, share) if method == OURS else None
    if aim is None:
        return cell
    return f"{cell}, [green]met {aim:.2f}[/]" if recall >= aim else f"{cell}, [red]missed {aim:.2f}[/]"
