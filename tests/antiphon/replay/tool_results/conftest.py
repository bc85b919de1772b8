"""A session in which every tool of the shop was called, and the shop as it was then."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon import Antiphon
from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from antiphon.recording.settings import own_redaction
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.testing.scripted import ScriptedModel
from tests.antiphon.recording.recorded import closed_lines
from tests.antiphon.replay.tool_results import shop

SHOP = shop.__name__


async def _recorded() -> list[Line]:
    model = ScriptedModel().calls("find_order", customer="C-1").and_calls("read_log", day=1)
    model.and_calls("login_of", customer="C-1").and_calls("ask_weather", city="Holm")
    for part in ("mast", "sail", "rope"):
        model.and_calls("ask_warehouse", part=part)
    model.and_calls("refuse", reason="spare").and_calls("send_parcel", order="O-17")
    model.says("It is on its way.")
    async with Antiphon.embedded(tools=[SHOP], model=model.model(), scopes=("read", "write")) as antiphon:
        response = await antiphon.ask("Where is the order of C-1?")
        return await closed_lines(antiphon, response.session_id)


@pytest.fixture(scope="session")
def shop_lines() -> list[Line]:
    return redacted(asyncio.run(_recorded()), own_redaction())


@pytest.fixture
def shop_path(shop_lines: list[Line], tmp_path: Path) -> Path:
    path = tmp_path / "shop.jsonl"
    write_lines(path, shop_lines)
    return path


@pytest.fixture(autouse=True)
def _as_it_was(shop_lines: list[Line]) -> Iterator[None]:
    shop.calls.clear()
    shop.most_under_way = 0
    yield
    shop.changes.clear()
