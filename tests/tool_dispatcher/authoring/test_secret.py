"""Secrets: the positions of the mark, the values found there, and that none of it is published."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretBytes, SecretStr

from tests.rows import each_row
from tool_dispatcher.authoring.secret import (
    Secret,
    holds_secret,
    is_secret,
    is_secret_at,
    secret_fields,
    secret_paths,
    secrets_in,
    without_defaults,
)
from tool_dispatcher.authoring.tool import Tool, tool

Password = Annotated[str, Secret]


class Account(BaseModel):
    user: str
    token: Password
    note: str = ""


class Tree(BaseModel):
    pin: SecretStr
    below: list["Tree"] = []


@tool(effect="write")
def log_in(
    user: str,
    password: Password,
    accounts: list[Account] = [],  # noqa: B006  # never changed
    spare: Annotated[str | None, Secret()] = "spare-secret",
    keys: Annotated[dict[str, list[str]], Secret] = {},  # noqa: B006  # never changed
    by_name: dict[str, Account] | None = None,
    tree: Tree | None = None,
) -> None:
    """Logs in."""


SCHEMA = log_in.input_schema


def test_the_mark_is_published_as_write_only() -> None:
    properties = SCHEMA["properties"]
    assert properties["password"] == {"type": "string", "writeOnly": True, "format": "password"}
    assert properties["spare"]["format"] == "password"
    assert "format" not in properties["keys"]
    assert SCHEMA["$defs"]["Tree"]["properties"]["pin"]["writeOnly"] is True


def test_the_default_of_a_secret_is_not_published() -> None:
    assert "default" not in SCHEMA["properties"]["spare"]
    assert "spare-secret" not in log_in.definition.model_dump_json()
    assert log_in.call(log_in.parameters.read({"user": "u", "password": "p"}), None) is None  # type: ignore[arg-type]  # not asked for


def test_a_default_that_holds_a_secret_is_not_published() -> None:
    own = Account(user="u", token="tok-1")

    @tool(effect="read")
    def look(default: int = 3, account: Account = own) -> None:
        """Looks."""

    assert "tok-1" not in look.definition.model_dump_json()
    assert look.input_schema["properties"]["default"] == {"type": "integer", "default": 3}


def test_a_schema_of_the_authors_own_is_published_without_defaults_of_secrets() -> None:
    schema = {"properties": {"key": {"format": "password", "default": "k1", "examples": ["k2"]}}}
    look = Tool("look", "Looks.", schema, print, effect="read")
    assert look.input_schema["properties"]["key"] == {"format": "password"}
    assert schema["properties"]["key"]["default"] == "k1"


def test_a_schema_without_secrets_is_unchanged() -> None:
    schema = {"properties": {"a": {"default": 1}}}
    assert without_defaults(schema) is schema


def test_the_locations_of_secrets_are_named() -> None:
    assert set(secret_paths(SCHEMA)) == {
        ("password",),
        ("spare",),
        ("keys",),
        ("accounts", "*", "token"),
        ("tree", "pin"),
    }
    assert log_in.secret_paths == secret_paths(SCHEMA)


def test_secrets_are_found_at_any_depth() -> None:
    arguments = {
        "user": "ada",
        "password": "p1",
        "accounts": [{"user": "u", "token": "t1", "note": "n"}, {"user": "u", "token": "t2"}],
        "spare": None,
        "keys": {"a": ["k1", "k2"], "b": [""]},
        "by_name": {"x": {"user": "u", "token": "t3"}},
        "tree": {"pin": 1, "below": [{"pin": "2", "below": [{"pin": "p1"}]}]},
    }
    assert set(secrets_in(SCHEMA, arguments)) == {"p1", "t1", "t2", "t3", "k1", "k2", "1", "2"}


SCHEMAS: list[tuple[dict[str, Any], Any, set[str]]] = [
    ({"prefixItems": [{"writeOnly": True}], "items": {}}, ["s", "no"], {"s"}),
    ({"items": [{}, {"writeOnly": True}]}, ["no", "s"], {"s"}),
    ({"patternProperties": {"^x_": {"format": "password"}}}, {"x_a": "s", "b": "no"}, {"s"}),
    ({"properties": {"a": {}}, "additionalProperties": {"writeOnly": True}}, {"a": "no", "b": "s"}, {"s"}),
    ({"allOf": [{"properties": {"a": {"writeOnly": True}}}]}, {"a": "s"}, {"s"}),
    ({"if": {}, "then": {"properties": {"a": {"writeOnly": True}}}}, {"a": "s"}, {"s"}),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"items": {"writeOnly": True}}}}, ["s"], {"s"}),
    ({"$ref": "#/nowhere"}, {"a": "no"}, set()),
    ({"properties": {"a": True, "writeOnly": {}}}, {"a": "no", "writeOnly": "no"}, set()),
    ({"writeOnly": "yes"}, "no", set()),
]


@each_row(("schema", "value", "secrets"), SCHEMAS)
def test_any_json_schema_can_have_the_mark(schema: dict[str, Any], value: Any, secrets: set[str]) -> None:
    assert set(secrets_in(schema, value)) == secrets
    assert bool(secret_paths(schema)) == bool(secrets)


@each_row(
    ("path", "is_one", "holds_one"),
    [
        ((), False, True),
        (("user",), False, False),
        (("password",), True, True),
        (("keys", "a", 0), True, True),
        (("accounts",), False, True),
        (("accounts", 0), False, True),
        (("accounts", 0, "token"), True, True),
        (("accounts", 0, "note"), False, False),
        (("nothing", "here"), False, False),
    ],
)
def test_a_location_is_a_secret_or_holds_one(path: Any, is_one: bool, holds_one: bool) -> None:
    assert (is_secret_at(SCHEMA, path), holds_secret(SCHEMA, path)) == (is_one, holds_one)


_json = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["tree", "below", "pin", "a"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(_json, _json)
def test_any_value_and_any_schema_are_walked_to_the_end(schema: Any, value: Any) -> None:
    for one in (SCHEMA, {"properties": schema, "items": schema, "anyOf": schema}):
        assert set(secrets_in(one, value)) <= set(secrets_in({"writeOnly": True}, value))


@dataclass
class Login:
    user: str
    password: Password
    spare: SecretStr | None = None
    hint: "Annotated[str, Secret]" = field(default="")


class Opened(BaseModel):
    id: str
    key: Password = ""
    key_2: SecretStr | None = None
    keys: list[Annotated[str, Secret]] = []
    said: str = Field(default="", json_schema_extra={"writeOnly": True})
    pin: pydantic.Secret[int] | None = None
    account: Account | None = None


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Login, {"password", "spare", "hint"}),
        (Opened, {"key", "key_2", "keys", "said", "pin"}),
        (Account, {"token"}),
        (dict, set()),
        (str, set()),
    ],
)
def test_fields_of_results_can_be_marked(kind: type, names: set[str]) -> None:
    assert secret_fields(kind) == names


@pytest.mark.parametrize("kind", [Password, SecretStr, SecretBytes, SecretStr | None, dict[str, Password]])
def test_a_type_may_have_the_mark_in_any_of_its_parts(kind: Any) -> None:
    assert is_secret(kind)


@pytest.mark.parametrize("kind", [str, Account, list[str], None, "text", Annotated[str, "Secret"]])
def test_other_types_do_not(kind: Any) -> None:
    assert not is_secret(kind)
