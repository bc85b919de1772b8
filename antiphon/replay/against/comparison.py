"""The verification of recordings by today's code and by another version, and the differences."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path

from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.replay.against.causes import Sources
from antiphon.replay.against.changes import Compared, compare_results
from antiphon.replay.against.decisions import Decision, count_decisions
from antiphon.replay.against.next_steps import next_steps, path_difference
from antiphon.replay.against.other_code import OtherCode
from antiphon.replay.against.other_reports import verifying
from antiphon.replay.against.results import Result, read
from antiphon.replay.against.trees import ROOT
from antiphon.replay.reports import as_json
from antiphon.replay.verify_all import verify_all

_EXPLAINED_MAX = 20
"""The number of decisions whose causes are determined; each needs a replay of a recording."""


def compare(
    code: OtherCode,
    paths: Sequence[Path],
    jobs: int,
    only: Sequence[Component],
    done: Callable[[int], None] = lambda count: None,
) -> tuple[list[Compared], list[Decision]]:
    """Return the differences in each recording, and their summary. Raises OtherCodeFailed.

    `done` is called with the number of recordings that one version has just verified.
    """
    with verifying(code, paths, jobs, only) as batches:
        now = _today(paths, jobs, only or COMPONENTS, done)
        for batch in as_completed(batches):
            done(len(batch.result()))
    before = {one.path: one for batch in batches for one in batch.result()}
    compared: list[Compared] = []
    path_differences: list[str | None] = []
    for path, result in zip(paths, now, strict=True):
        earlier = before.get(result.path, Result(path=result.path, result="", error="it was not verified."))
        one = compare_results(earlier, result)
        compared.append(one)
        path_differences.append(_path_difference(path, earlier, result) if one.steps else None)
    decisions = count_decisions(zip(compared, path_differences, strict=True))
    return compared, list(_with_causes(decisions, Sources(code.root, ROOT)))


def _today(
    paths: Sequence[Path], jobs: int, only: Sequence[Component], done: Callable[[int], None]
) -> list[Result]:
    """Return today's results in the form that the other version prints, so that values compare."""
    results: list[Result] = []
    for outcome in verify_all(paths, jobs, only):
        results += read(as_json.document([outcome]))
        done(1)
    return results


def _path_difference(path: Path, before: Result, now: Result) -> str | None:
    """Return the new course of a session in words; None if it is the same or unknown."""
    if before.goes_on is None and now.goes_on is None:
        return None
    try:
        steps = next_steps(before, now, list(read_lines(path)))
    except UnreadableEvent:
        return None
    return None if steps is None else path_difference(*steps)


def _with_causes(decisions: Sequence[Decision], sources: Sources) -> Iterator[Decision]:
    for number, decision in enumerate(decisions):
        first = decision.cases[0]
        if number < _EXPLAINED_MAX:
            yield replace(decision, causes=sources.causes(Path(first.path), first.step))
        else:
            yield decision
