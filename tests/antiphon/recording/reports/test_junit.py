"""JUnit XML, as CI systems read it."""

from xml.etree import ElementTree

from antiphon.recording.reports.junit import junit
from tests.antiphon.recording.reports.outcomes import DIVERGED, SAME, UNREADABLE, diverged


def test_every_recording_is_a_test_case_and_the_counts_are_right() -> None:
    document = ElementTree.fromstring(junit([SAME, DIVERGED, UNREADABLE]))
    suite = document.find("testsuite")
    assert suite is not None
    for element in (document, suite):
        counts = [element.get(name) for name in ("tests", "failures", "errors", "skipped", "time")]
        assert counts == ["3", "1", "1", "0", "0.750"]
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["a.jsonl", "b,1:2.jsonl", "c.jsonl"]
    assert all(case.get("classname") and case.get("time") for case in cases)
    assert [[element.tag for element in case] for case in cases] == [
        ["system-out"],
        ["failure", "system-out"],
        ["error", "system-out"],
    ]
    failure = cases[1][0]
    assert (failure.get("message") or "").startswith("diverged at event 4")
    assert '- "Hurry."' in (failure.text or "")
    assert cases[2][0].get("message") == "line 3: not JSON."


def test_what_xml_cannot_hold_is_escaped_in_words() -> None:
    hostile = "".join(map(chr, range(0x20))) + "]]><a>&\ufffe\uffff\ud800"
    text = ElementTree.fromstring(junit([diverged(hostile, "b\nc")])).find(".//failure")
    assert text is not None
    assert "\\x00" in (text.text or "")
    assert "]]><a>&\\ufffe\\uffff\\ud800" in (text.text or "")
