"""Outcomes as JUnit XML, which most CI systems read: one test case per recording. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from antiphon_shared.events import COMPONENTS

from antiphon.replay.report import by_component
from antiphon.replay.reports.outcome import Outcome, Tally
from antiphon.replay.reports.shown import printable
from antiphon.replay.reports.text import body, headline, reasons, told

SUITE = "antiphon.replay"


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """Return the document, in UTF-8. A diverged or unchecked recording is a failure, an unreadable one an error.

    If unchecked steps are allowed, the recording counts as skipped, as it is not `same`.
    """
    document = Document(SUITE)
    tally = Tally.of(outcomes)
    _add_counts(document.suite, tally.checked, by_component(tally.unchecked))
    for outcome in outcomes:
        case, report = document.case(outcome.path, outcome.duration_s), outcome.report
        if report is not None:
            _add_counts(case, report.steps, report.unchecked_steps)
        if verdict := _verdict(outcome):
            document.verdict(case, verdict, outcome.result, *_failure_of(outcome))
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join(told(outcome)))
    return document.encoded()


class Document:
    """A document with one suite, to which a case for each recording is added."""

    def __init__(self, suite: str) -> None:
        self._kinds: Counter[str] = Counter()
        self._name, self._duration_s = suite, 0.0
        self._suites = ElementTree.Element("testsuites")
        self.suite = ElementTree.SubElement(self._suites, "testsuite")

    def case(self, path: str, duration_s: float) -> ElementTree.Element:
        """Add a case."""
        self._kinds["test"] += 1
        self._duration_s += duration_s
        about = {"classname": self._name, "name": _xml(path), "time": f"{duration_s:.3f}"}
        return ElementTree.SubElement(self.suite, "testcase", about)

    def verdict(self, case: ElementTree.Element, verdict: str, type: str, line: str, more: str) -> None:
        """Add to a case that it is a failure, an error or skipped, and the reason in one line and whole."""
        self._kinds[verdict] += 1
        about = {"message": _xml(line), "type": type}
        ElementTree.SubElement(case, verdict, about).text = _xml(more)

    def encoded(self) -> bytes:
        """Return the document, in UTF-8."""
        for element in (self._suites, self.suite):
            element.attrib |= {
                "name": self._name,
                "tests": str(self._kinds["test"]),
                "failures": str(self._kinds["failure"]),
                "errors": str(self._kinds["error"]),
                "skipped": str(self._kinds["skipped"]),
                "time": f"{self._duration_s:.3f}",
            }
        ElementTree.indent(self._suites)
        document: bytes = ElementTree.tostring(self._suites, encoding="utf-8", xml_declaration=True)
        return document + b"\n"


def _verdict(outcome: Outcome) -> str:
    """Return the element for an outcome; empty if the outcome is `same`."""
    match outcome.result:
        case "same":
            return ""
        case "unreadable":
            return "error"
        case _:
            return "skipped" if outcome.passes else "failure"


def _failure_of(outcome: Outcome) -> tuple[str, str]:
    """Return the reason for a result other than `same`, in one line and whole."""
    report = outcome.report
    if report is None:
        return outcome.error, outcome.error
    if report.first is not None:
        return headline(report), "\n".join(body(report))
    line = f"{headline(report)}; allowed: {outcome.allowed}" if outcome.allowed else headline(report)
    return line, f"not checked: {reasons(report.unchecked)}"


def _add_counts(
    element: ElementTree.Element, checked: Mapping[Any, int], unchecked: Mapping[str, int]
) -> None:
    """Add the numbers of steps by component, as properties."""
    properties = ElementTree.SubElement(element, "properties")
    for one in COMPONENTS:
        for name, steps in (("checked", checked), ("unchecked", unchecked)):
            about = {"name": f"{name}.{one}", "value": str(steps.get(one, 0))}
            ElementTree.SubElement(properties, "property", about)


def _xml(text: str) -> str:
    """Return text without the characters that XML 1.0 cannot hold, even escaped, and which are not printable."""
    return "\n".join(map(printable, text.split("\n")))
