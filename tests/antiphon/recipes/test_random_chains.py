"""Random programs: a recipe learned from one run of a program does the same as the program with other results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.workflows.graph import compile_graph
from hypothesis import given
from hypothesis import strategies as st

from antiphon.recipes.chain import Chain, SuccessfulCall
from antiphon.recipes.learn import Learned, learn
from antiphon.workflows.dry_run import dry_run
from coordinator.workflows.messages import CallTool
from coordinator.workflows.plan import Plan, pinned_tool
from tests.antiphon.recipes.chains import a_call, a_chain

Path = tuple[str | int, ...]
PATHS: list[Path] = [
    (),
    ("id",),
    ("found", 1, "id"),
    ("a-b", 0),
    ("7",),
    ("x", "y", "z"),
    ("of", 0, "length"),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True)
class From:
    """An argument that is read in the result of an earlier call."""

    call: int
    path: Path


@dataclass(frozen=True)
class Asked:
    """An argument that the question says."""

    number: int


@dataclass(frozen=True)
class Fixed:
    """An argument that is always the same."""

    number: int


@dataclass(frozen=True)
class Step:
    """One call of a program."""

    round: int
    is_write: bool
    arguments: Mapping[str, Any]


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 7))):
        round = (steps[-1].round if steps else 1) + draw(st.integers(0, 1))
        earlier = [m for m, step in enumerate(steps) if step.round < round]
        kinds = [st.builds(Asked, st.integers(0, 2)), st.builds(Fixed, st.integers(0, 2))]
        if earlier:
            kinds.append(st.builds(From, st.sampled_from(earlier), st.sampled_from(PATHS)))
        leaf = st.one_of(kinds)
        argument = leaf | st.lists(leaf, max_size=2) | st.fixed_dictionaries({"in": leaf})
        names = st.sampled_from(["a", "b", "id"])
        steps.append(Step(round, draw(st.booleans()), draw(st.dictionaries(names, argument, max_size=3))))
    return steps


def value_at(world: str, call: int, path: Path) -> str:
    return f"{world} {call} {'/'.join(map(str, path)) or 'itself'}"


def result_of(world: str, call: int, paths: set[Path]) -> Any:
    """Return the result of a call: another text at every path."""
    if () in paths or not paths:
        return value_at(world, call, ())
    inner: dict[Any, set[Path]] = {}
    for path in paths:
        inner.setdefault(path[0], set()).add(path[1:])
    return _around(world, call, (), inner)


def _around(world: str, call: int, at: Path, inner: Mapping[Any, set[Path]]) -> Any:
    def one(key: Any) -> Any:
        rest: dict[Any, set[Path]] = {}
        for path in inner.get(key, ()):
            if path:
                rest.setdefault(path[0], set()).add(path[1:])
        return _around(world, call, (*at, key), rest) if rest else value_at(world, call, (*at, key))

    if any(isinstance(key, int) for key in inner):
        return [one(n) for n in range(max(inner) + 1)]
    return {key: one(key) for key in inner}


def ran(program: list[Step], world: str) -> tuple[list[SuccessfulCall], list[Any]]:
    """Return the calls of the program in a world, one by one."""
    paths: dict[int, set[Path]] = {n: set() for n in range(len(program))}
    for step in program:
        for source in flat(step.arguments):
            if isinstance(source, From):
                whole = () in paths[source.call] or (not source.path and paths[source.call])
                paths[source.call] |= set() if whole else {source.path}
    results = [result_of(world, n, paths[n]) for n in range(len(program))]

    def value(source: Any) -> Any:
        match source:
            case From(call, path):
                found = results[call]
                for part in path:
                    found = found[part]
                return found
            case Asked(number):
                return f"{world} wish {number}"
            case Fixed(number):
                return f"habit {number}"
            case dict():
                return {key: value(one) for key, one in source.items()}
        return [value(one) for one in source]

    made = [
        a_call(
            f"t{n}",
            {name: value(one) for name, one in step.arguments.items()},
            results[n],
            step.round,
            effect="write" if step.is_write else "read",
            is_cited=True,
        )
        for n, step in enumerate(program)
    ]
    return made, results


def flat(source: Any) -> list[Any]:
    if isinstance(source, dict | list):
        return [
            leaf for one in (source.values() if isinstance(source, dict) else source) for leaf in flat(one)
        ]
    return [source]


def readable(program: list[Step]) -> list[Step]:
    """Return the program without its dead references, after another one has taken the whole result."""
    taken: dict[int, set[Path]] = {}

    def kept(source: Any) -> Any:
        match source:
            case From(call, path):
                others = taken.setdefault(call, set())
                clashes = any(
                    path[: len(one)] == one or one[: len(path)] == path for one in others if one != path
                )
                kinds = {isinstance(one[0], int) for one in (*others, path) if one}
                if clashes or len(kinds) > 1:
                    return Fixed(0)
                others.add(path)
                return source
            case dict():
                return {key: kept(one) for key, one in source.items()}
            case list():
                return [kept(one) for one in source]
        return source

    return [Step(step.round, step.is_write, kept(step.arguments)) for step in program]


def simulated(
    learned: Learned, made: list[SuccessfulCall], params: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the arguments of each call, by the engine."""
    tools = {call.tool: pinned_tool(call.definition, call.definition.contract) for call in made}
    plan = Plan(compile_graph(learned.recipe.specification, "w"), tools)
    run = dry_run(plan, params, {call.tool: call.result for call in made})
    assert run.end.status == "completed"
    calls = {one.path: dict(one.arguments) for one in run.commands if isinstance(one, CallTool)}
    return [calls[call.tool] for call in made]


def chain(made: list[SuccessfulCall], world: str) -> Chain:
    wishes = " ".join(f"{world} wish {n}," for n in range(3))
    return a_chain(f"Please: {wishes} now.", *made)


@given(programs())
def test_a_recipe_learned_in_one_world_holds_in_another(program: list[Step]) -> None:
    program = readable(program)
    here, _ = ran(program, "here")
    learned = learn([chain(here, "here")], "w")
    elsewhere, _ = ran(program, "there")
    examples = {name: str(param.example) for name, param in learned.recipe.workflow.params.items()}
    assert all(example.startswith("here wish") for example in examples.values()), "only wishes are params"
    params = {name: example.replace("here", "there", 1) for name, example in examples.items()}
    assert simulated(learned, elsewhere, params) == [call.arguments for call in elsewhere]


@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abc"), JSON, max_size=3), JSON, st.booleans()),
        min_size=1,
        max_size=5,
    ),
    st.text(),
)
def test_a_recipe_learned_from_any_calls_repeats_them(
    calls: list[tuple[dict[str, Any], Any, bool]], question: str
) -> None:
    """`learn` simulates the recipe and refuses one with a different effect: none is refused here."""
    made = [
        a_call(f"t{n}", arguments, result, n + 1, effect="write" if is_write else "read", is_cited=True)
        for n, (arguments, result, is_write) in enumerate(calls)
    ]
    learned = learn([a_chain(question, *made)], "w")
    params = {name: param.example for name, param in learned.recipe.workflow.params.items()}
    assert [*map(repr, simulated(learned, made, params))] == [repr(call.arguments) for call in made]
