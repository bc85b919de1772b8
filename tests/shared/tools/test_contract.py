from typing import Any

import pytest
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract
from pydantic import ValidationError

CONTRACT = Contract(effect="read", rounds=(1, 2), validates="plan")
WRITTEN = {CONTRACT_KEYWORD: CONTRACT.as_keyword()}


def a_definition(keyword: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name="look", description=".", input_schema={CONTRACT_KEYWORD: keyword}, effect="read"
    )


def as_in_format_3() -> dict[str, Any]:
    """Return the contract as the last commit of format 3 wrote it: the same, in the same order, except one name."""
    return {{"rounds": "steps"}.get(name, name): value for name, value in CONTRACT.as_keyword().items()}


def test_a_contract_with_steps_is_read_as_one_with_rounds() -> None:
    assert Contract.of_schema({CONTRACT_KEYWORD: as_in_format_3()}, "read") == CONTRACT
    assert Contract.of_schema({CONTRACT_KEYWORD: {"steps": [3]}}, "write").rounds == (3,)


def test_a_contract_with_both_names_is_refused() -> None:
    with pytest.raises(ValidationError, match="steps"):
        Contract.of_schema({CONTRACT_KEYWORD: {"steps": [3], "rounds": [3]}}, "read")


def test_the_published_schema_uses_rounds() -> None:
    assert "steps" not in WRITTEN[CONTRACT_KEYWORD]
    assert WRITTEN[CONTRACT_KEYWORD]["rounds"] == [1, 2]


def test_a_catalogue_for_format_3_is_byte_identical_to_that_of_its_own_release() -> None:
    ours = Catalogue(tools=(a_definition(CONTRACT.as_keyword()),)).in_format(3)
    theirs = Catalogue(tools=(a_definition(as_in_format_3()),))
    assert ours.model_dump_json() == theirs.model_dump_json()


def test_format_1_writes_steps_for_rounds_and_omits_newer_keywords() -> None:
    (tool,) = Catalogue(tools=(a_definition(CONTRACT.as_keyword()),)).in_format(1).tools
    keyword = tool.input_schema[CONTRACT_KEYWORD]
    assert keyword["steps"] == [1, 2]
    assert not {"rounds", "validates", "deterministic", "repeat"} & keyword.keys()
    assert tool.contract.rounds == (1, 2)


def test_a_catalogue_of_an_earlier_worker_is_kept_unchanged_in_its_format() -> None:
    theirs = Catalogue(tools=(a_definition(as_in_format_3()),))
    assert theirs.in_format(3) == theirs
    assert theirs.tools[0].contract.rounds == (1, 2)
