"""The components of a rerun."""

from antiphon_shared.events import COMPONENTS

from antiphon.embedded import EmbeddedPipeline
from antiphon.recording.lines import Line
from antiphon.recording.serving.parts import part_of
from antiphon.recording.serving.parts.reasoning_engine import engine_settings
from antiphon.recording.serving.score import Score


async def test_each_handles_what_the_component_handles(courses_lines: list[Line]) -> None:
    score = Score(courses_lines)
    pipeline = EmbeddedPipeline([], "offline")
    bus = await pipeline.start()
    try:
        today = {service.name: set(service.handlers) for service in pipeline._services(bus)}
        parts = {
            name: part_of(name, bus, {score.session_id: score}, "http://127.0.0.1:9") for name in COMPONENTS
        }
        assert {name: set(part.handlers) for name, part in parts.items()} == today
    finally:
        await pipeline.stop()


def test_an_engine_asks_at_the_settings_and_prices_of_then(courses_lines: list[Line]) -> None:
    score = Score(courses_lines)
    exchange = next(iter(score.exchanges.values()))
    settings = engine_settings(score)
    assert settings.max_output_tokens == exchange.record.max_output_tokens
    assert list(settings.prices) == [exchange.record.default_model]
