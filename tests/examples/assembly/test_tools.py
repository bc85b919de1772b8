"""The fifteen tools of the assembly example: their results, their refusals, and their deployments."""

from typing import Any

import pytest

from examples.assembly import (
    assemble,
    deploy,
    estimate_cost,
    find_examples,
    get_defaults,
    get_deployment,
    get_details,
    get_info,
    list_choices,
    list_components,
    list_kinds,
    search_components,
    validate_full,
    validate_minimal,
    verify_deployment,
)
from examples.assembly.lines import Line, Receipt
from tests.tool_dispatcher.builders import a_context
from tool_dispatcher.authoring.tool import ToolFailed

PARTS: list[dict[str, Any]] = Line.__example__["parts"]


def a_line(*parts: dict[str, Any]) -> Line:
    return Line.model_validate({"name": "skagen-high-water", "parts": parts or PARTS})


def with_part(place: int, **part: Any) -> Line:
    return a_line(*PARTS[:place], {**PARTS[place], **part}, *PARTS[place + 1 :])


def errors(line: Line) -> dict[str, str]:
    return {one.property: one.message for one in validate_full(line).errors}


def test_a_search_by_words_finds_the_component_that_is_meant() -> None:
    assert search_components("the level of the water")[0].component == "water_gauge"
    assert search_components("sound a siren")[0].component == "siren"
    assert search_components('")(*') == []
    assert len(search_components("a line of the station", limit=2)) == 2


def test_an_example_names_its_components_in_order() -> None:
    found = find_examples("write to the chat when the water passes a limit")[0]
    assert found.components == ["schedule", "water_gauge", "threshold", "chat_message"]


def test_every_component_belongs_to_a_kind() -> None:
    kinds = list_kinds()
    assert [one.kind for one in kinds] == ["trigger", "source", "filter", "action"]
    assert [one.components for one in kinds] == [len(list_components(one.kind)) for one in kinds]


def test_a_name_that_does_not_exist_is_answered_by_similar_ones() -> None:
    for tool in (get_info, get_details, get_defaults):
        with pytest.raises(ToolFailed, match="no component 'water_gage'") as failed:
            tool("water_gage")
        assert "water_gauge" in (failed.value.suggested_action or "")


def test_settings_are_listed_with_their_limits_choices_and_defaults() -> None:
    assert {one.name for one in get_details("wind_mast").settings} == {"station", "height_m"}
    assert "Skagen" in list_choices("wind_mast", "station").choices
    assert get_defaults("wind_mast").settings == {"height_m": 10}
    assert get_defaults("wind_mast").required == ["station"]
    with pytest.raises(ToolFailed, match="no setting 'height_m' with a list of choices"):
        list_choices("wind_mast", "height_m")


def test_a_line_that_keeps_every_rule_is_valid() -> None:
    assert validate_minimal(a_line()).valid
    assert validate_full(a_line()).valid


@pytest.mark.parametrize(
    ("line", "property", "message"),
    [
        (with_part(3, settings={}), "parts.3.settings.channel", "Required field 'channel' is missing"),
        (with_part(3, component="chat"), "parts.3.component", "There is no component 'chat'"),
        (
            with_part(0, settings={"every_minutes": "10"}),
            "parts.0.settings.every_minutes",
            "not a whole number",
        ),
        (
            with_part(0, settings={"every_minutes": True}),
            "parts.0.settings.every_minutes",
            "not a whole number",
        ),
        (with_part(0, settings={"every_minutes": 0}), "parts.0.settings.every_minutes", "0 is less than 1"),
        (with_part(0, settings={"every_minutes": 1441}), "parts.0.settings.every_minutes", "more than 1440"),
        (with_part(1, settings={"station": "Oslo"}), "parts.1.settings.station", "'Oslo' is none of Skagen"),
        (with_part(3, settings={"channel": "harbour"}), "parts.3.settings.channel", "does not match"),
        (with_part(2, settings={"limit": 2, "up": 1}), "parts.2.settings.up", "has no setting 'up'"),
        (a_line(*PARTS[1:]), "parts", "A line has one trigger, this one 0"),
        (a_line(*PARTS[:3]), "parts", "ends with an action"),
        (a_line(PARTS[1], PARTS[0], *PARTS[2:]), "parts", "and not source, trigger, filter, action"),
    ],
)
def test_each_broken_rule_is_named_by_its_property(line: Line, property: str, message: str) -> None:
    assert message in errors(line)[property]


def test_the_minimal_validation_checks_only_for_missing_settings() -> None:
    assert validate_minimal(with_part(0, settings={"every_minutes": 0})).valid
    assert not validate_minimal(with_part(0, settings={})).valid


def test_assembling_fills_in_defaults_and_deploys_nothing() -> None:
    blueprint = assemble(a_line())
    assert blueprint.drawing == "schedule -> water_gauge -> threshold -> chat_message"
    assert blueprint.line.parts[2].settings == {"limit": 2.5, "side": "above"}
    assert estimate_cost(a_line()).euro_per_month == 3
    with pytest.raises(ToolFailed, match="There is no deployment D-1001"):
        get_deployment("D-1001")


def test_a_deployment_under_one_key_is_made_once() -> None:
    first = deploy(a_line(), a_context(idempotency_key="k1"))
    assert deploy(a_line(), a_context(idempotency_key="k1")) == first
    assert (first.deployment, first.version, first.status) == ("D-1001", 1, "running")
    again = deploy(a_line(), a_context(idempotency_key="k2"))
    assert (again.deployment, again.version) == ("D-1002", 2)
    assert get_deployment("D-1002") == again


def test_a_receipt_counts_only_for_a_line_that_runs_with_that_checksum() -> None:
    running = deploy(a_line(), a_context(idempotency_key="k1"))
    broken = deploy(with_part(3, settings={}), a_context(idempotency_key="k2"))
    assert broken.status == "broken"
    assert broken.reason == "parts.3.settings.channel: Required field 'channel' is missing"
    assert running.checksum == assemble(a_line()).checksum

    def why(deployment: str, checksum: str) -> list[str]:
        receipt = Receipt(deployment=deployment, checksum=checksum)
        return [one.message for one in verify_deployment(receipt).errors]

    assert why(running.deployment, running.checksum) == []
    assert why("D-9999", running.checksum) == ["There is no deployment D-9999"]
    assert why(running.deployment, "0" * 12) == [f"The line that was deployed has {running.checksum}"]
    assert why(broken.deployment, broken.checksum) == [f"It is broken: {broken.reason}"]
