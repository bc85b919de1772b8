"""JUnit XML, as CI systems read it."""

from dataclasses import replace
from xml.etree import ElementTree

from antiphon.replay.reports.junit import junit
from tests.antiphon.replay.reports.outcomes import DIVERGED, SAME, UNCHECKED, UNREADABLE, diverged


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
        ["properties", "system-out"],
        ["properties", "failure", "system-out"],
        ["error", "system-out"],
    ]
    failure = cases[1][1]
    assert (failure.get("message") or "").startswith("diverged at event 4")
    assert '- "Hurry."' in (failure.text or "")
    assert cases[2][0].get("message") == "line 3: not JSON."


def test_what_xml_cannot_hold_is_escaped_in_words() -> None:
    hostile = "".join(map(chr, range(0x20))) + "]]><a>&\ufffe\uffff\ud800"
    text = ElementTree.fromstring(junit([diverged(hostile, "b\nc")])).find(".//failure")
    assert text is not None
    assert "\\x00" in (text.text or "")
    assert "]]><a>&\\ufffe\\uffff\\ud800" in (text.text or "")


def test_what_was_not_checked_fails_unless_it_is_allowed_and_is_counted_by_component() -> None:
    document = ElementTree.fromstring(junit([SAME, UNCHECKED, replace(UNCHECKED, allowed="as agreed")]))
    suite = document.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "1"]
    _, failed, skipped = suite.findall("testcase")
    verdicts = [case.find(tag) for case, tag in ((failed, "failure"), (skipped, "skipped"))]
    assert [one.get("type") for one in verdicts if one is not None] == ["unchecked", "unchecked"]
    assert verdicts[1] is not None
    assert (verdicts[1].get("message") or "").endswith("allowed: as agreed")
    of_all, of_one = (
        {one.get("name"): one.get("value") for one in element.iterfind("properties/property")}
        for element in (suite, failed)
    )
    assert (of_all["checked.coordinator"], of_all["unchecked.coordinator"]) == ("10", "10")
    assert (of_one["checked.tool_dispatcher"], of_one["unchecked.coordinator"]) == ("2", "5")
