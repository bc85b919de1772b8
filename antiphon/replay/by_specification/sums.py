"""The sum of many results: recordings grouped by their first difference. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from antiphon.replay.by_specification.result import SpecificationResult

Result = Literal["same", "differs", "unchecked", "other", "unreadable"]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A recording's result, or the reason why it is unreadable."""

    path: str
    compared: SpecificationResult | None = None
    error: str = ""

    @property
    def result(self) -> Result:
        """Return the verdict."""
        return "unreadable" if self.compared is None else self.compared.result


@dataclass
class Group:
    """Recordings that share their first difference."""

    workflow: str
    sentence: str
    cases: list[ComparedRun] = field(default_factory=list)

    @property
    def count_ends(self) -> Counter[str]:
        """Return the counts of how these runs would end, in words."""
        return Counter(end_in_words(one.compared) for one in self.cases if one.compared is not None)


def grouped(all: Sequence[ComparedRun]) -> list[Group]:
    """Return the differing recordings by their first difference, the largest group first."""
    groups: dict[tuple[str, str], Group] = {}
    for one in all:
        if one.compared is not None and one.compared.first is not None:
            key = (one.compared.workflow, one.compared.first.sentence)
            groups.setdefault(key, Group(*key)).cases.append(one)
    return sorted(groups.values(), key=lambda group: (-len(group.cases), group.workflow, group.sentence))


def result_of(all: Sequence[ComparedRun]) -> Result:
    """Return the worst result of all; "unchecked" if no recording is of a run of these workflows."""
    results = {one.result for one in all}
    worst: tuple[Result, ...] = ("unreadable", "differs", "unchecked")
    worst_result = next((result for result in worst if result in results), None)
    return worst_result or ("same" if "same" in results else "unchecked")


def end_in_words(compared: SpecificationResult) -> str:
    """Return the course of a run from its first difference, in words."""
    rest = compared.rest
    if rest is None or not rest.status:
        return "its continuation is unknown"
    return "it ends as before" if rest.is_same_end else f"it ends as {rest.status}, with another output"
