"""Paths from which users import, before replay had a room of its own: they work for one release."""

import importlib
import sys

import pytest

pytest_plugins = "pytester"


@pytest.mark.parametrize(
    ("module", "name"), [("verify", "verify"), ("rerun", "rerun"), ("compare.scoring", "Score")]
)
def test_a_former_path_forwards_with_a_warning(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, new = f"antiphon.recording.{module}", f"antiphon.replay.{module}"
    monkeypatch.delitem(sys.modules, former, raising=False)
    with pytest.warns(DeprecationWarning, match=f"import {new}"):
        forwarding = importlib.import_module(former)
    assert getattr(forwarding, name) is getattr(importlib.import_module(new), name)


def test_the_former_path_of_the_plugin_names_the_new_one_where_warnings_are_errors(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile("def test_one(scripted_model): pass")
    result = pytester.runpytest_subprocess("-p", "antiphon.recording.pytest_plugin")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*is now `-p antiphon.replay.pytest_plugin`"])
