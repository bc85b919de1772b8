"""References between tools: every named tool exists and fits."""

from typing import Annotated, Any

import pytest
from antiphon_shared.tools.contract import Alternative, BatchVariant, Effect
from pydantic import BaseModel

from tests.rows import each_row
from tests.tool_dispatcher.builders import a_tool
from tool_dispatcher.authoring.secret import Secret
from tool_dispatcher.authoring.tool import InvalidTool, Tool, tool
from tool_dispatcher.catalogue import Registry


class Contact(BaseModel):
    name: str
    email: str = ""


def taking(name: str, *required: str, effect: Effect = "read", optional: str = "", **options: Any) -> Tool:
    """Return a tool with these parameters and no others."""
    properties = {parameter: {"type": "string"} for parameter in (*required, *optional.split())}
    schema = {"properties": properties, "required": list(required)}
    return Tool(name, f"Does {name}.", schema, print, effect=effect, **options)


def taking_many(items: dict[str, Any], *others: str, effect: Effect = "read", **array: Any) -> Tool:
    properties = {"all": {"type": "array", "items": items, **array}} | {name: {} for name in others}
    return Tool(
        "many", "Many.", {"properties": properties, "required": list(properties)}, print, effect=effect
    )


def refused(*tools: Tool) -> str:
    with pytest.raises(InvalidTool) as error:
        Registry(tools)
    assert error.value.hint
    return str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"depends_on": "serach"},
        {"alternatives": ["serach"]},
        {"next": "serach"},
        {"batch": {"tool": "serach", "argument": "all"}},
    ],
)
def test_an_unknown_tool_name_is_refused_with_the_nearest_one(options: dict[str, Any]) -> None:
    message = refused(a_tool("fetch", print, **options), a_tool("search", print))
    assert "Tool 'fetch'" in message
    assert f"{next(iter(options))} names 'serach'" in message
    assert "Did you mean search?" in message


def test_all_tools_are_listed_when_no_name_is_near() -> None:
    assert "There are: b, c." in refused(
        a_tool("a", print, next="zzz"), a_tool("b", print), a_tool("c", print)
    )


def test_the_only_tool_that_names_another_is_not_proposed_itself() -> None:
    message = refused(a_tool("find_box", print, next="find_bog"))
    assert message.endswith("is not among the tools. Load the module that defines it too.")


@pytest.mark.parametrize("names", ["ab", "abc", "abcde"])
def test_tools_that_wait_for_each_other_in_a_circle_are_refused(names: str) -> None:
    needs = zip(names, names[1:] + names[0], strict=True)
    message = refused(*(a_tool(name, print, depends_on=other) for name, other in needs))
    assert f"form a cycle: {' -> '.join((*names, names[0]))}" in message


def test_one_tool_may_be_needed_by_several() -> None:
    needs: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d", "a"]}
    options: dict[str, dict[str, Any]] = {
        name: {"depends_on": of} if of else {} for name, of in needs.items()
    }
    assert len(Registry(a_tool(name, print, **more) for name, more in options.items())) == 5


class TestAlternatives:
    def test_the_same_names_need_no_mapping(self) -> None:
        Registry([taking("a", "q", optional="n", alternatives="b"), taking("b", "q", optional="n more")])

    def test_mapped_arguments_satisfy_the_alternative(self) -> None:
        mapped = Alternative(tool="b", arguments={"q": "text"})
        Registry([taking("a", "q", optional="n", alternatives=mapped), taking("b", "text")])

    def test_a_read_is_never_replaced_by_a_write(self) -> None:
        message = refused(taking("a", alternatives="b"), taking("b", effect="write"))
        assert "is a read, and its alternative b is a write" in message

    def test_a_write_may_be_replaced_by_a_write_of_wider_scopes(self) -> None:
        Registry(
            [
                taking("a", effect="write", alternatives="b"),
                taking("b", effect="write", scopes=["admin"]),
            ]
        )

    @pytest.mark.parametrize(
        ("mapping", "other", "why"),
        [
            (None, taking("b", "n"), "alternative b has no parameter 'q'.*Map the arguments"),
            (None, taking("b", "q", "key"), "alternative b has no parameter 'n'"),
            (
                None,
                taking("b", "q", "n", "key"),
                "alternative b requires 'key', which no argument is mapped to",
            ),
            ({"qq": "text"}, taking("b", "text"), "maps 'qq' to a parameter.*Did you mean q"),
            ({"q": "texts"}, taking("b", "text"), "b has no parameter 'texts'. Did you mean text"),
            ({"q": "text"}, taking("b", "text", "key"), "alternative b requires 'key'"),
        ],
    )
    def test_an_alternative_that_could_not_be_called_is_refused(
        self, mapping: dict[str, str] | None, other: Tool, why: str
    ) -> None:
        alternative = Alternative(tool="b", arguments=mapping)
        with pytest.raises(InvalidTool, match=f"^Tool 'a': .*{why}"):
            Registry([taking("a", "q", optional="n", alternatives=alternative), other])

    def test_a_tool_that_takes_anything_fits_everywhere(self) -> None:
        Registry([a_tool("a", print, alternatives="b"), taking("b", "q")])
        Registry([taking("a", "q", alternatives="b"), a_tool("b", print)])

    def test_a_secret_is_mapped_only_to_a_secret(self) -> None:
        def signed(key: Annotated[str, Secret]) -> None: ...

        a = tool(effect="read", name="a", description="A.", alternatives="b")(signed)
        b = tool(effect="read", name="b", description="B.")(signed)
        Registry([a, b])
        assert "its secret 'key' is mapped to 'key' of b" in refused(a, taking("b", "key"))


class TestBatchVariants:
    def test_a_list_of_the_tools_own_arguments_fits(self) -> None:
        def create(name: str, email: str = "") -> None: ...
        def create_all(contacts: list[Contact], note: str = "") -> None: ...

        batch = BatchVariant(tool="many", argument="contacts", items_max=10)
        Registry(
            [
                tool(effect="write", name="one", description="O.", batch=batch)(create),
                tool(effect="write", name="many", description="M.")(create_all),
            ]
        )

    @each_row(
        ("many", "why"),
        [
            (taking_many({}, effect="write"), "is a write, but the tool is a read"),
            (taking("many", "al"), "has no parameter 'all'. Did you mean al"),
            (taking("many", "all"), "does not accept a list as 'all'"),
            (taking_many({}, "key"), "also needs 'key'"),
            (taking_many({}, maxItems=5), "accepts 5 items, fewer than items_max. Write items_max=5"),
            (taking_many({"type": "string"}), "does not accept objects in its list"),
            (
                taking_many({"type": "object", "properties": {}, "additionalProperties": False}),
                "does not accept 'q' in its items",
            ),
            (taking_many({"type": "object", "required": ["key"]}), "requires 'key' in its items"),
        ],
    )
    def test_a_batch_variant_that_could_not_take_the_calls_is_refused(self, many: Tool, why: str) -> None:
        batch = BatchVariant(tool="many", argument="all", items_max=6)
        with pytest.raises(InvalidTool, match=f"^Tool 'one': its batch variant many {why}"):
            Registry([taking("one", "q", batch=batch), many])

    def test_a_list_that_takes_anything_fits(self) -> None:
        batch = {"tool": "many", "argument": "all"}
        Registry([taking("one", "q", batch=batch), taking_many({})])
