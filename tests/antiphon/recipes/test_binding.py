"""The source of an argument: the question, an earlier result, or none."""

from typing import Any

import pytest

from antiphon.recipes.chain import NotLearnable
from antiphon.recipes.learn import learn
from tests.antiphon.recipes.chains import a_call, a_chain, a_tool, args_of, edges_of, learned, params_of
from tests.rows import each_row


def taken(question: str, value: Any, result: Any, argument: str = "flight") -> Any:
    """Return the argument of a second call in the file, from the question and the first call's result."""
    made = learned(
        question,
        a_call("find", {}, result, 1),
        a_call("book", {argument: value}, {}, 2, effect="write"),
    )
    return args_of(made)["book"][argument]


@each_row(
    ("value", "result", "expected"),
    [
        ("NYC-1", {"found": [{"id": "NYC-0"}, {"id": "NYC-1"}]}, "$find.found.1.id"),
        ("NYC-1", "NYC-1", "$find"),
        ("NYC-1", {"deep": {"deeper": "NYC-1"}, "id": "NYC-1"}, "$find.id"),
        ("NYC-1", {"other": "NYC-1", "flight": "NYC-1"}, "$find.flight"),
        ("NYC-1", {"one": "NYC-1", "two": "NYC-1"}, "$find.one"),
        ("NYC-1", {"content-type": "NYC-1"}, "${find.content-type}"),
        ("NYC-1", {"7": "NYC-1"}, "$find.7"),
        ("NYC-1", {"length": "NYC-1"}, "$find.length"),
        ("NYC-1", {"a.b": "NYC-1"}, "NYC-1"),
        ("NYC-1", {"": "NYC-1"}, "NYC-1"),
        ("NYC-1", {"id": "NYC-10"}, "NYC-1"),
        ("Zürich — 東京 🛫", {"ziel": "Zürich — 東京 🛫"}, "$find.ziel"),
        ("$5 and ${x}", {"a": "no"}, "$$5 and $${x}"),
        ("$5 and ${x}", {"a": "$5 and ${x}"}, "$find.a"),
        ("", {"a": ""}, ""),
        ("  ", {"a": "  "}, "  "),
        ("open", {"status": "open"}, "open"),
        ("the", {"word": "the"}, "the"),
        ("LI", {"a": "LI"}, "LI"),
        ("LI", {"flight": "LI"}, "$find.flight"),
        ("LI", {"flight": "LI", "a": "LI"}, "LI"),
        (4711, {"n": 4711}, "$find.n"),
        (4711, {"n": 4711, "m": 4711}, 4711),
        (4711, {"n": 4711.0}, 4711),
        (4711, {"n": "4711"}, 4711),
        ("4711", {"n": 4711}, "4711"),
        (0.5, {"n": 0.5}, "$find.n"),
        (7, {"n": 7}, 7),
        (7, {"flight_id": 7}, "$find.flight_id"),
        (True, {"flight": True}, True),
        (None, {"flight": None}, None),
        ([], {"flight": []}, []),
        ({}, {"flight": {}}, {}),
        (["a-1", "b-2"], {"ids": ["a-1", "b-2"]}, "$find.ids"),
        (["b-2", "a-1"], {"ids": ["a-1", "b-2"]}, ["$find.ids.1", "$find.ids.0"]),
        ({"id": "a-1", "n": 1}, {"x": {"n": 1, "id": "a-1"}}, "$find.x"),
        ({"id": "a-1", "n": 2}, {"x": {"n": 1, "id": "a-1"}}, {"id": "$find.x.id", "n": 2}),
    ],
)  # fmt: skip
def test_a_value_is_bound_to_a_result_only_if_it_is_distinctive(
    value: Any, result: Any, expected: Any
) -> None:
    assert taken("Book it.", value, result) == expected


@each_row(
    ("question", "value", "is_param"),
    [
        ("Fly to Lisbon!", "Lisbon", True),
        ("Fly to LISBON!", "Lisbon", True),
        ("Fly to Lisbonne", "Lisbon", False),
        ("Go to  New\nYork.", "New York", True),
        ("預訂東京的酒店", "東京的酒店", True),
        ("Is it open?", "open", False),
        ("Stay 2 nights.", 2, True),
        ("Stay 2 nights.", 2.0, True),
        ("Stay 2 nights.", "2", False),
        ("Stay 22 nights.", 2, False),
        ("Pay 1,500.50 now", 1500.5, True),
        ("Pay $90.", 90, True),
        ("Version 2.1", 2, False),
        ("Room 3-5", 3, False),
        ("On 2030-05-01.", "2030-05-01", True),
        ("On 2030-05-01.", 5, False),
        ("On May 1, 2030.", "2030-05-01", True),
        ("On 1 May 2030.", "2030-05-01", True),
        ("In May 2030.", "2030-05-01", False),
        ("Is it true?", True, False),
        ("What is null?", None, False),
    ],
)
def test_a_value_from_the_question_becomes_a_param(question: str, value: Any, is_param: bool) -> None:
    assert taken(question, value, {}) == ("$flight" if is_param else value)


def test_the_question_takes_precedence_over_a_result_that_repeats_it() -> None:
    assert taken("Book Lisbon.", "Lisbon", {"place": "Lisbon"}) == "$flight"


def test_a_date_is_a_param_with_its_format_and_a_number_one_of_type_int() -> None:
    made = learned(
        "From 2030-05-01, 2 nights.", a_call("b", {"day": "2030-05-01", "n": 2}, {}, 1, effect="write")
    )
    assert params_of(made) == {
        "day": {"type": "str", "required": True, "example": "2030-05-01", "format": "date"},
        "n": {"type": "int", "required": True, "example": 2},
    }


def test_a_param_takes_its_type_and_description_from_the_schema() -> None:
    seat = {"type": "string", "enum": ["aisle", "window"], "description": "Where to sit."}
    tool = a_tool("b", "write", {"properties": {"seat": seat, "price": {"type": "number"}}})
    made = learned("A window seat for 90.", a_call(tool, {"seat": "window", "price": 90}, {}, 1))
    assert params_of(made)["seat"]["enum"] == ["aisle", "window"]
    assert params_of(made)["seat"]["description"] == "Where to sit."
    assert params_of(made)["price"]["type"] == "float"


def test_an_argument_with_listed_values_is_bound_to_a_result_only_under_its_name() -> None:
    tool = a_tool("b", "write", {"properties": {"seat": {"enum": ["aisle", "window"]}}})
    for key, expected in (("place", "window"), ("seat", "$find.seat")):
        made = learned("Go.", a_call("find", {}, {key: "window"}, 1), a_call(tool, {"seat": "window"}, {}, 2))
        assert args_of(made)["b"]["seat"] == expected


def test_one_number_in_the_question_for_two_arguments_is_not_a_param() -> None:
    arguments = {"nights": 2, "people": 2}
    once = learned("For 2 nights.", a_call("b", arguments, {}, 1, effect="write"))
    twice = learned("2 nights for 2 people.", a_call("b", arguments, {}, 1, effect="write"))
    assert (args_of(once)["b"], params_of(once)) == (arguments, {})
    assert args_of(twice)["b"] == {"nights": "$nights", "people": "$people"}


def test_the_same_text_is_one_param_in_all_calls() -> None:
    made = learned(
        "Go to Lisbon.",
        a_call("find", {"to": "Lisbon"}, {}, 1, is_cited=True),
        a_call("book", {"place": "Lisbon"}, {}, 2, effect="write"),
    )
    assert args_of(made) == {"find": {"to": "$to"}, "book": {"place": "$to"}}


def test_a_value_that_the_model_wrote_first_is_not_bound_to_a_result_that_repeats_it() -> None:
    made = learned(
        "Cook.",
        a_call("find", {"query": "soup of the day"}, {"query": "soup of the day"}, 1, is_cited=True),
        a_call("cook", {"what": "soup of the day"}, {}, 2, effect="write"),
    )
    assert args_of(made)["cook"] == {"what": "soup of the day"}
    assert edges_of(made)["cook"] == ["find"], "a write still follows the reads before it"


def test_a_value_found_in_several_results_is_bound_to_the_newest() -> None:
    made = learned(
        "Go.",
        a_call("a", {}, {"id": "X-17"}, 1, is_cited=True),
        a_call("b", {}, {"deep": {"id": "X-17"}}, 2, is_cited=True),
        a_call("c", {"id": "X-17"}, {}, 3, effect="write"),
    )
    assert args_of(made)["c"] == {"id": "$b.deep.id"}


def test_a_result_of_the_same_round_is_bound_only_through_a_placeholder() -> None:
    first = a_call("a", {}, {"id": "X-17"}, 1, is_cited=True)
    unnamed = learned("Go.", first, a_call("b", {"id": "X-17"}, {}, 1, effect="write"))
    assert (args_of(unnamed)["b"], edges_of(unnamed)["b"]) == ({"id": "X-17"}, [])
    named = a_call("b", {"id": "X-17"}, {}, 1, effect="write", placeholders={("id",): (0, ("id",))})
    made = learned("Is it X-17?", first, named)
    assert (args_of(made)["b"], edges_of(made)["b"]) == ({"id": "$a.id"}, ["a"])


def test_a_result_of_an_alternative_is_not_a_source() -> None:
    other = a_call("a", {}, {"id": "X-17"}, 1, is_cited=True, has_own_result=False)
    made = learned("Go.", other, a_call("b", {"id": "X-17"}, {}, 2, effect="write"))
    assert args_of(made)["b"] == {"id": "X-17"}


def test_a_value_that_differs_between_sessions_is_a_param_and_a_constant_one_is_not() -> None:
    chains = [
        a_chain(
            question,
            a_call("find", {"to": to, "sort": "price"}, {"found": [{"id": f"{to}-1", "n": n}]}, 1),
            a_call("book", {"flight": f"{to}-1", "n": n, "seat": seat}, {}, 2, effect="write"),
            session_id=f"s{n}",
        )
        for n, (question, to, seat) in enumerate(
            [("Fly!", "LI", "a"), ("Go!", "RO", "b"), ("Off!", "OS", "a")]
        )
    ]
    made = learn(chains, "w")
    assert args_of(made) == {
        "find": {"to": "$to", "sort": "price"},
        "book": {"flight": "$find.found.0.id", "n": "$find.found.0.n", "seat": "$seat"},
    }, "where every session has another value, no chance explains all of them"
    assert [*params_of(made)] == ["to", "seat"]
    assert made.recipe.learned_from == ("s0", "s1", "s2")


@pytest.mark.parametrize(
    ("given", "there", "is_taken"),
    [
        ((1, 2), (1, 2), True),
        (("A", "B"), ("A", "B"), True),
        ((1, 1), (1, 1), False),
        ((1, 2), (1, 2.0), False),
        ((1, 2), (1, "2"), False),
        ((True, False), (True, False), False),
    ],
)
def test_a_value_is_bound_to_a_result_field_only_if_it_holds_in_all_sessions(
    given: tuple[Any, ...], there: tuple[Any, ...], is_taken: bool
) -> None:
    chains = [
        a_chain(
            "Go.",
            a_call("find", {}, {"place": value_there}, 1, is_cited=True),
            a_call("book", {"gate": value}, {}, 2, effect="write"),
            session_id=f"s{n}",
        )
        for n, (value, value_there) in enumerate(zip(given, there, strict=True))
    ]
    taken = args_of(learn(chains, "w"))["book"]["gate"]
    assert (taken == "$find.place") is is_taken


def test_a_coincidence_in_one_session_is_not_learned_from_two() -> None:
    def chain(id: str, weight: int, n: str) -> Any:
        find = a_call("find", {}, {"id": id, "weight": weight}, 1, is_cited=True)
        return a_chain(
            "Go.", find, a_call("book", {"id": id, "limit": 480}, {}, 2, effect="write"), session_id=n
        )

    assert args_of(learn([chain("A-1", 480, "s1")], "w"))["book"] == {
        "id": "$find.id",
        "limit": "$find.weight",
    }
    both = learn([chain("A-1", 480, "s1"), chain("A-2", 350, "s2")], "w")
    assert args_of(both)["book"] == {"id": "$find.id", "limit": 480}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (a_call("c", {"x": 1}, {}, 1, effect="write"), "call 1 is b in s1 and c in s2"),
        (a_call("b", {"y": 1}, {}, 1, effect="write"), "has x, y only in one of them"),
        (a_call("b", {"x": "text"}, {}, 1, effect="write"), "the argument x has the types int and str"),
    ],
)
def test_sessions_that_did_something_else_are_refused_with_the_difference(other: Any, why: str) -> None:
    first = a_chain("Go.", a_call("b", {"x": 1}, {}, 1, effect="write"))
    with pytest.raises(NotLearnable, match=why):
        learn([first, a_chain("Go.", other, session_id="s2")])


def test_a_secret_is_a_param_without_an_example_or_comes_from_a_result() -> None:
    pin = {"type": "string", "writeOnly": True}
    tool = a_tool("pay", "write", {"properties": {"pin": pin, "token": pin, "to": {"type": "string"}}})
    made = learned(
        "Pay Ann.",
        a_call("log_in", {}, {"token": "tok-4711"}, 1),
        a_call(tool, {"pin": "0815-abc", "token": "tok-4711", "to": "Ann"}, {}, 2),
    )
    assert args_of(made)["pay"] == {"pin": "$pin", "token": "$log_in.token", "to": "$to"}
    assert params_of(made)["pin"] == {"type": "str", "required": True}
    assert "0815" not in made.text


def test_a_redacted_value_becomes_a_param_of_its_own() -> None:
    made = learned(
        "Pay.",
        a_call("log_in", {}, {"token": "[redacted]"}, 1, is_cited=True),
        a_call("pay", {"token": "[redacted]", "a": {"token": "Bearer [redacted-2]"}}, {}, 2, effect="write"),
    )
    assert args_of(made)["pay"] == {"token": "$token", "a": {"token": "$token_2"}}
    assert [*params_of(made)] == ["token", "token_2"]
    assert "redacted" not in made.text


@each_row("sign", ["9", "9,", "9.", "-", "a", " ", "\x00", "(", "２", "\ud800", "2030-01-01 ", "May 1 "])
def test_any_question_can_be_searched(sign: str) -> None:
    assert taken(sign * 20_000, "Lisbon", {"id": "Lisbon"}) == "$find.id"
    assert taken(sign * 20_000, 7, {}) == 7
