"""Outcomes as JUnit XML, which most CI systems read: one test case per recording. Pure."""

from collections.abc import Sequence
from xml.etree import ElementTree

from antiphon.recording.reports.outcome import Outcome, Tally
from antiphon.recording.reports.shown import printable
from antiphon.recording.reports.text import body, headline, told

SUITE = "antiphon.replay"


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """The document, in UTF-8. A divergence is a failure, a recording that cannot be read an error."""
    results = Tally.of(outcomes).results
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(results["diverged"]),
        "errors": str(results["unreadable"]),
        "skipped": "0",
        "time": f"{sum(outcome.duration_s for outcome in outcomes):.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": SUITE} | counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": SUITE} | counts)
    for outcome in outcomes:
        _add_case(suite, outcome)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_case(suite: ElementTree.Element, outcome: Outcome) -> None:
    about = {"classname": SUITE, "name": _xml(outcome.path), "time": f"{outcome.duration_s:.3f}"}
    case, report = ElementTree.SubElement(suite, "testcase", about), outcome.report
    if report is None:
        about = {"message": _xml(outcome.error), "type": "unreadable"}
        ElementTree.SubElement(case, "error", about).text = _xml(outcome.error)
    elif not report.is_same:
        about = {"message": _xml(headline(report)), "type": "diverged"}
        ElementTree.SubElement(case, "failure", about).text = _xml("\n".join(body(report)))
    ElementTree.SubElement(case, "system-out").text = _xml("\n".join(told(outcome)))


def _xml(text: str) -> str:
    """Text without what XML 1.0 cannot hold, not even escaped: nothing of that is printable."""
    return "\n".join(map(printable, text.split("\n")))
