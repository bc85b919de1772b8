"""The dispatcher's settings: lists are read strictly, so that no slip leaves something unguarded."""

import os

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from antiphon.settings_table import variables
from tool_dispatcher.settings import ToolDispatcherSettings

PREFIX = "ANTIPHON_TOOL_DISPATCHER_"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("ANTIPHON_")]:
        monkeypatch.delenv(variable)


def test_by_default_sessions_read_and_need_no_approval() -> None:
    settings = load(ToolDispatcherSettings)
    assert settings.default_scopes == ("read",)
    assert (settings.grant_key_file, settings.approval, settings.secrets) == ("", (), ())
    assert not settings.approval_after_untrusted
    assert (settings.calls_max, settings.collapse_above, settings.stored_result_bytes_max) == (
        256,
        3,
        10_000_000,
    )


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("DEFAULT_SCOPES", "read,write", ("read", "write")),
        ("DEFAULT_SCOPES", " read , crm:contacts/1.0,, read ", ("read", "crm:contacts/1.0")),
        ("DEFAULT_SCOPES", ",", ()),
        ("DEFAULT_SCOPES", "", ("read",)),
        ("APPROVAL", "send_mail,delete-all", ("send_mail", "delete-all")),
        ("APPROVAL", "*", ("*",)),
        ("SECRETS", "HOME", ("HOME",)),
    ],
)
def test_a_comma_list_is_read(
    name: str, value: str, read: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "somewhere")
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    assert getattr(load(ToolDispatcherSettings), name.lower()) == read


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DEFAULT_SCOPES", "read write", "'read write' is not a scope"),
        ("DEFAULT_SCOPES", '["read"]', "is not a scope"),
        ("DEFAULT_SCOPES", "x" * 101, "is not a scope"),
        ("APPROVAL", "send_*", r"'send_\*' is not a tool's name or \*"),
        ("APPROVAL", "send_mail;delete", "is not a tool's name"),
        ("APPROVAL_AFTER_UNTRUSTED", "perhaps", "boolean"),
        ("SECRETS", "MY KEY", "'MY KEY' is not the name of a variable"),
        ("SECRETS", "NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE is not set"),
    ],
)
def test_an_invalid_list_is_refused_with_the_faulty_entry(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(ConfigurationError, match=f"{PREFIX}{name}: .*{message}"):
        load(ToolDispatcherSettings)


def test_the_table_shows_lists_in_their_written_form() -> None:
    rows = {variable: (takes, default) for variable, takes, default, _ in variables(ToolDispatcherSettings)}
    assert rows[f"{PREFIX}DEFAULT_SCOPES"] == ("comma list", "read")
    assert rows[f"{PREFIX}APPROVAL"] == ("comma list", "")
