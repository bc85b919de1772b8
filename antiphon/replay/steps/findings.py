"""The findings of a replay: the steps that were checked, those that were not, and the divergences. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from antiphon_shared.events import Component

from antiphon.recording.lines import EventLine
from antiphon.replay.report import DIVERGENCES_KEPT_MAX, REDACTED_CHANGE, Divergence

_DIGEST, _TEXT = "briefing.digest", "briefing.text"


class Findings:
    """All that was found so far."""

    def __init__(self) -> None:
        self.steps: Counter[str] = Counter()
        self.unchecked: Counter[str] = Counter()
        self.divergences: list[Divergence] = []
        self.divergences_in_all = 0
        self.digests: list[tuple[EventLine, str, str]] = []
        """Decisions on a run whose digests alone differ today."""

    @property
    def is_same(self) -> bool:
        return not (self.divergences_in_all or self.unchecked or self.digests)

    def diverged(
        self,
        line: EventLine,
        component: Component,
        output: str,
        found: Iterable[tuple[str, object, object]],
        node: str = "",
    ) -> None:
        """Add the differences in one output of a step."""
        for path, expected, got in found:
            self.divergences_in_all += 1
            if len(self.divergences) < DIVERGENCES_KEPT_MAX:
                self.divergences.append(
                    Divergence(line.n, line.event.type, component, output, path, expected, got, node)
                )

    def raises(self, line: EventLine, component: Component, then: object, error: str) -> None:
        """Add an error of today's code, in place of the step's output."""
        self.diverged(line, component, "outputs", [("", then, f"today's code raises {error}")])

    def judge_digests(self, redactions: int) -> None:
        """Report digests that differ; a digest from before a redaction says nothing."""
        if redactions and self.digests:
            self.unchecked[f"coordinator: {REDACTED_CHANGE}"] += len(self.digests)
            self.steps["coordinator"] -= len(self.digests)
            return
        for line, then, now in self.digests:
            self.diverged(line, "coordinator", "state", [("digest", then, now)])
        if self.digests:
            self.divergences.sort(key=lambda one: one.event)

    def show(self, digest: str, then: str, now: str) -> None:
        """Show a briefing's texts in place of their digests, which mean nothing to a reader."""
        for n, one in enumerate(self.divergences):
            if (one.path, one.expected) == (_DIGEST, digest):
                self.divergences[n] = replace(one, path=_TEXT, expected=then, got=now)
