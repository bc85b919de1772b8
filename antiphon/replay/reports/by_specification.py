"""The rehearsal of recorded runs by another specification: in words and as JSON. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from antiphon_shared.text.excerpt import list_names

from antiphon.replay.by_specification.result import SpecificationResult
from antiphon.replay.by_specification.sums import ComparedRun, Group, Result, end_in_words, grouped, result_of
from antiphon.replay.reports.as_json import json_text
from antiphon.replay.reports.change_lines import change, printable

_CASES_LISTED_MAX = 5
_MISSING_LISTED_MAX = 3
_RESULTS: tuple[Result, ...] = ("same", "differs", "unchecked", "other", "unreadable")


def reported(all: Sequence[ComparedRun]) -> Iterator[str]:
    """Yield the first differences, the most frequent first, then the unreadable and unchecked recordings."""
    for group in grouped(all):
        yield from _group(group)
    for one in all:
        if one.compared is None:
            yield f"{printable(one.path)}: unreadable: {printable(one.error)}"
        elif one.compared.result == "unchecked":
            yield f"{printable(one.path)}: not checked whole: {printable(one.compared.why)}"


def summary(all: Sequence[ComparedRun], duration_s: float) -> list[str]:
    """Return the counts of all results."""
    counts = Counter(one.result for one in all)
    words: dict[Result, str] = {
        "same": "decide the same",
        "differs": "differ",
        "other": "are not runs of these workflows",
    }
    counted = [f"{counts[result]} {words.get(result, result)}" for result in _RESULTS if counts[result]]
    decisions = sum(one.compared.decisions for one in all if one.compared is not None)
    many = f"{len(all)} recording{'s' if len(all) != 1 else ''}"
    return [f"{many}: {', '.join(counted) or 'none'}; {decisions} decisions are the same, {duration_s:.2f} s"]


def document(all: Sequence[ComparedRun]) -> str:
    """Return the `result` of all, `counts`, the first differences with their frequency, and `recordings` one by one."""
    counts = Counter(one.result for one in all)
    return json_text(
        {
            "result": result_of(all),
            "counts": {result: counts[result] for result in _RESULTS},
            "differences": [
                {
                    "workflow": group.workflow,
                    "difference": group.sentence,
                    "recordings": len(group.cases),
                    "ends": dict(group.count_ends),
                }
                for group in grouped(all)
            ],
            "recordings": [_recording(one) for one in all],
        }
    )


def _case(one: ComparedRun) -> Iterator[str]:
    """Yield the result for one recording: the event, the recorded and the rehearsed act, and the course from there."""
    run = one.compared
    if run is None or run.first is None:
        yield printable(one.error if run is None else run.why)
        return
    first = run.first
    more = f" (and {first.more} more node{'s' if first.more > 1 else ''} there)" if first.more else ""
    yield f"at event {first.event} ({printable(first.type)}): {printable(first.sentence)}{more}"
    if first.did is not None or first.would is not None:
        yield "- as recorded, + with the other workflow file"
        yield from (f"  {line}" for line in change(_or_empty(first.did), _or_empty(first.would)))
    yield f"from there: {_rest(run)}"


def _group(group: Group) -> Iterator[str]:
    count = len(group.cases)
    runs = f"{count} run{'s' if count != 1 else ''} of {printable(group.workflow)}"
    yield f"{runs}: {printable(group.sentence)}"
    example = group.cases[0]
    if count > 1:
        ends = ", ".join(f"{number}: {end}" for end, number in group.count_ends.most_common())
        yield f"  from there, {ends}"
        yield f"  first of them, {printable(example.path)}"
    else:
        yield f"  {printable(example.path)}"
    yield from (f"    {line}" for line in _case(example))
    for one in group.cases[1:_CASES_LISTED_MAX]:
        yield f"  {printable(one.path)}"
    if count > _CASES_LISTED_MAX:
        yield f"  and {count - _CASES_LISTED_MAX} more (--json lists all)"


def _rest(result: SpecificationResult) -> str:
    missing = () if result.rest is None else result.rest.missing
    if not missing:
        return end_in_words(result)
    return f"{end_in_words(result)}: not recorded: {list_names(map(printable, missing), _MISSING_LISTED_MAX)}"


def _or_empty(value: object) -> Any:
    return "nothing" if value is None else value


def _recording(one: ComparedRun) -> dict[str, Any]:
    if one.compared is None:
        return {"path": one.path, "result": one.result, "error": one.error}
    return {"path": one.path, **asdict(one.compared)}
