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

    Where unchecked steps are allowed, the recording counts as skipped, as it is not `same`.
    """
    tally = Tally.of(outcomes)
    kinds = Counter(_verdict(outcome) for outcome in outcomes)
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": f"{sum(outcome.duration_s for outcome in outcomes):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": SUITE} | counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": SUITE} | counts)
    _add_counts(suite, tally.checked, by_component(tally.unchecked))
    for outcome in outcomes:
        _add_case(suite, outcome)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _verdict(outcome: Outcome) -> str:
    """Return the element for an outcome; empty for one that is the same."""
    match outcome.result:
        case "same":
            return ""
        case "unreadable":
            return "error"
        case _:
            return "skipped" if outcome.passes else "failure"


def _add_case(suite: ElementTree.Element, outcome: Outcome) -> None:
    about = {"classname": SUITE, "name": _xml(outcome.path), "time": f"{outcome.duration_s:.3f}"}
    case, report = ElementTree.SubElement(suite, "testcase", about), outcome.report
    if report is not None:
        _add_counts(case, report.steps, report.unchecked_steps)
    if verdict := _verdict(outcome):
        line, more = _said(outcome)
        about = {"message": _xml(line), "type": outcome.result}
        ElementTree.SubElement(case, verdict, about).text = _xml(more)
    ElementTree.SubElement(case, "system-out").text = _xml("\n".join(told(outcome)))


def _said(outcome: Outcome) -> tuple[str, str]:
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
    """Return text without the characters that XML 1.0 cannot hold, even escaped; none of them is printable."""
    return "\n".join(map(printable, text.split("\n")))
