"""The error of a wrong argument never shows a secret, even in an author's own message."""

import re
from typing import Annotated, Any, Self

from antiphon_shared.tools.calls import ToolError
from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from tests.rows import each_row
from tool_dispatcher.authoring.secret import Secret
from tool_dispatcher.authoring.tool import Tool, tool
from tool_dispatcher.authoring.validate import validate

SECRET = 'hunter"2-is-mine'


class Login(BaseModel):
    user: str
    password: Annotated[str, Secret, Field(min_length=30)]

    @model_validator(mode="after")
    def refuse_password(self) -> Self:
        raise ValueError(f"{self.password} will not do")


class Talkative(BaseModel):
    token: Annotated[str, Secret]
    other: str = ""
    when: Annotated[str, Secret] = ""

    @field_validator("other")
    @classmethod
    def tells(cls, value: str, info: Any) -> str:
        raise ValueError(f"{value} does not go with {info.data['token']}")

    @field_validator("when")
    @classmethod
    def quotes(cls, value: str) -> str:
        raise ValueError(f"{value} is bad")


class Long(Login):
    password: Annotated[str, Secret]


@tool(effect="read")
def log_in(logins: list[Login] = [], pin: SecretStr | None = None, day: Annotated[int, Secret] = 0) -> None:  # noqa: B006  # never changed
    """Logs in."""


@tool(effect="read")
def talk(arguments: Talkative) -> None:
    """Talks."""


@tool(effect="read")
def long(arguments: Long) -> None:
    """Long."""


SECRETLY = {"type": "string", "writeOnly": True}
by_schema = Tool(
    "by_schema",
    "Knows a schema.",
    {
        "properties": {
            "key": {**SECRETLY, "maxLength": 3},
            "kind": {**SECRETLY, "enum": ["a"]},
            "inner": {"type": "object", "properties": {"key": SECRETLY}},
            "list": {"type": "array", "items": SECRETLY, "uniqueItems": True},
            "open": {"type": "integer"},
        }
    },
    print,
    effect="read",
)

CASES: list[tuple[Tool, dict[str, Any], str, str]] = [
    (log_in, {"logins": [{"user": "u", "password": SECRET}]}, "logins[0].password", "at least 30"),
    (log_in, {"logins": [{"user": SECRET, "pasword": SECRET}]}, "logins[0].pasword", "no such field"),
    (log_in, {"logins": SECRET}, "logins", "valid array"),
    (log_in, {"logins": [SECRET]}, "logins[0]", "not shown"),
    (log_in, {"pin": [SECRET]}, "pin", "valid string"),
    (log_in, {"day": SECRET}, "day", "valid integer"),
    (talk, {"token": SECRET, "other": "x"}, "other", r"x does not go with \[redacted\]"),
    (talk, {"token": SECRET, "other": SECRET}, "other", r"\[redacted\]"),
    (talk, {"token": "", "when": SECRET}, "when", "not valid"),
    (long, {"user": "u", "password": SECRET}, "", r"\[redacted\] will not do"),
    (long, {"user": "hunter", "password": "hun"}, "", "^not valid"),
    (by_schema, {"key": SECRET}, "key", "maxLength 3"),
    (by_schema, {"key": {"a": SECRET}}, "key", "not valid.*type string"),
    (by_schema, {"kind": SECRET}, "kind", "not valid"),
    (by_schema, {"inner": SECRET}, "inner", "type object"),
    (by_schema, {"list": [SECRET, SECRET]}, "list", "not valid"),
    (
        by_schema,
        {"key": SECRET[:3] * 2, "open": SECRET[:3] * 2},
        "open",
        r"'\[redacted\]' is not of type 'integer'",
    ),
]


@each_row(("asked", "arguments", "field", "why"), CASES)
def test_a_secret_is_never_quoted(asked: Tool, arguments: dict[str, Any], field: str, why: str) -> None:
    error = validate(asked, arguments)
    assert isinstance(error, ToolError)
    assert field in error.fields
    assert SECRET not in error.model_dump_json()
    assert "hunter" not in error.model_dump_json()
    assert re.search(why, error.fields[field])


def test_a_value_that_is_not_secret_is_quoted() -> None:
    error = validate(by_schema, {"open": "x42", "key": "abc"})
    assert isinstance(error, ToolError)
    assert "'x42'" in error.fields["open"]
