"""The page of settings matches the classes, and excluded values are refused."""

from pathlib import Path
from typing import Literal

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import SECTIONS, Settings, load
from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from antiphon.settings_table import GROUPS, markdown, variables
from tests.rows import each_row

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def nonsense(takes: str) -> tuple[str, ...]:
    """Return values that a setting of that description cannot have; free text can have any."""
    if takes.startswith(("int", "float")):
        return ("many", "nan", "inf", "-1", "1e12")
    return () if takes == "text" else ("what?",)


REFUSED = [
    (kind, variable, value)
    for _, kind in GROUPS
    for variable, takes, _, _ in variables(kind)
    for value in nonsense(takes)
] + [(kind, f"{variables(kind)[0][0]}X", "1") for _, kind in GROUPS]


def test_the_settings_page_matches_the_classes() -> None:
    assert PAGE.read_text() == markdown(), "write it anew with `make docs`"


def test_every_section_has_its_settings() -> None:
    assert {kind.section for _, kind in GROUPS} == {"", *SECTIONS}


@each_row("kind", [kind for _, kind in GROUPS])
def test_every_setting_is_named_after_its_section_and_explained(kind: type[Settings]) -> None:
    prefix = f"ANTIPHON_{kind.section.upper()}_" if kind.section else "ANTIPHON_"
    for variable, value, _, meaning in variables(kind):
        assert variable.startswith(prefix)
        assert value
        assert meaning.endswith("."), variable
        assert f"| `{variable}` |" in markdown()


def test_every_row_of_the_page_has_its_four_cells() -> None:
    rows = [line for line in markdown().splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {5}


@pytest.mark.parametrize(("kind", "variable", "value"), REFUSED)
def test_a_setting_that_cannot_be_is_refused_by_name(
    kind: type[Settings], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable):
        load(kind)


class EverySetting(Settings):
    """One setting of each kind, for the table."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_BUS_")
    section = "bus"

    between: int = Field(default=0, ge=0, le=9, description="Between.")
    above: float = Field(default=0.5, gt=0, description="Above.")
    like: str = Field(default="a", pattern="^a|b$", description="Like.")
    hidden: SecretStr | None = Field(default=None, description="Hidden.")
    chosen: Literal["auto", "offline"] = Field(default="auto", description="Chosen.")
    flag: bool = Field(default=False, description="Flag.")
    prices: dict[str, float] = Field(default_factory=dict, description="Prices.")


def test_the_table_shows_variable_type_and_default_of_each_setting() -> None:
    assert variables(EverySetting) == [
        ("ANTIPHON_BUS_BETWEEN", "int, 0 to 9", "0", "Between."),
        ("ANTIPHON_BUS_ABOVE", "float, above 0", "0.5", "Above."),
        ("ANTIPHON_BUS_LIKE", "text like ^a|b$", "a", "Like."),
        ("ANTIPHON_BUS_HIDDEN", "text", "", "Hidden."),
        ("ANTIPHON_BUS_CHOSEN", "auto or offline", "auto", "Chosen."),
        ("ANTIPHON_BUS_FLAG", "true or false", "False", "Flag."),
        ("ANTIPHON_BUS_PRICES", "JSON", "", "Prices."),
    ]
