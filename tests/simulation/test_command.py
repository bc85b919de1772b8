"""`python -m tests.simulation` as a program."""

import runpy
import sys

import pytest


@pytest.mark.parametrize("words", [("--seeds", "0"), ("--seeds", "-3"), ("--sessions", "0")])
def test_a_run_of_nothing_is_refused_and_reports_no_promise_kept(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tests.simulation", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("tests.simulation", run_name="__main__")
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    assert "1 or more" in shown.err
