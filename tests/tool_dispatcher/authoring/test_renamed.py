import warnings

import pytest

from antiphon import InvalidTool, Tool, tool


def look(arguments: object, context: object) -> None:
    """Do nothing, as a tool's function."""


SCHEMA = {"type": "object"}


def test_steps_is_accepted_for_rounds_with_a_warning_that_names_the_replacement() -> None:
    with pytest.warns(DeprecationWarning, match="steps was renamed to rounds") as warned:
        one = Tool("look", "Looks.", SCHEMA, look, effect="read", steps=[1, 2])
    assert one.contract.rounds == (1, 2)
    (warning,) = warned
    assert str(warning.message) == (
        "Tool 'look': steps was renamed to rounds. Write rounds=[1, 2]; the next release refuses steps."
    )
    assert warning.filename.endswith("test_renamed.py")


def test_the_warning_is_shown_at_the_function_that_is_decorated() -> None:
    with pytest.warns(DeprecationWarning, match="Write rounds=1;") as warned:

        @tool(effect="read", steps=1)
        def glance(place: str) -> str:
            """Looks at a place."""
            return place

    assert glance.contract.rounds == (1,)
    assert warned[0].lineno in range(28, 36)


def test_rounds_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Tool("look", "Looks.", SCHEMA, look, effect="read", rounds=2).contract.rounds == (2,)


def test_both_names_at_once_are_refused() -> None:
    both = r"has both steps and rounds.*Write only rounds"
    with pytest.warns(DeprecationWarning, match="steps was renamed"), pytest.raises(InvalidTool, match=both):
        Tool("look", "Looks.", SCHEMA, look, effect="read", steps=1, rounds=2)


def test_a_missing_effect_is_reported_also_with_the_earlier_name() -> None:
    with pytest.raises(InvalidTool, match="its effect is missing"):
        tool(steps=1)(look)


def test_the_earlier_name_is_not_among_the_options_that_are_listed() -> None:
    with pytest.raises(InvalidTool, match="option 'stepz'") as refused:
        tool(effect="read", stepz=1)(look)  # type: ignore[call-arg]  # the unknown option is the case
    assert "rounds" in str(refused.value)
    assert "steps" not in str(refused.value).replace("stepz", "")
