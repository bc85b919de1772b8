"""A name that does not exist is answered with the nearest, and with those that do."""

from antiphon_shared.text.nearest import did_you_mean


def test_the_nearest_name_is_listed_first() -> None:
    assert did_you_mean("max_round", ["deadline_s", "max_rounds"]) == (
        "Did you mean max_rounds? There are: deadline_s, max_rounds."
    )


def test_a_name_unlike_all_others_receives_the_list_of_names() -> None:
    assert did_you_mean("zzz", ["a", "b"]) == "There are: a, b."
    assert did_you_mean("zzz", []) == ""
    assert did_you_mean("zzz", [], "Publish one.") == "Publish one."
    assert did_you_mean("zzz", map(str, range(100))).endswith(", 39 and 60 more.")
