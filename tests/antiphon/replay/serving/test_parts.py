"""The components of a rerun."""

from antiphon_shared.events import COMPONENTS

from antiphon.embedded import EmbeddedPipeline
from antiphon.recording.lines import Line
from antiphon.replay.serving.components import part_of
from antiphon.replay.serving.components.reasoning_engine import engine_settings
from antiphon.replay.serving.recording_index import RecordingIndex


async def test_each_part_handles_the_events_of_its_component(courses_lines: list[Line]) -> None:
    recording_index = RecordingIndex(courses_lines)
    pipeline = EmbeddedPipeline([], "offline")
    bus = await pipeline.start()
    try:
        today = {service.name: set(service.handlers) for service in pipeline._services(bus)}
        parts = {
            name: part_of(name, bus, {recording_index.session_id: recording_index}, []) for name in COMPONENTS
        }
        assert {name: set(part.handlers) for name, part in parts.items()} == today
    finally:
        await pipeline.stop()


def test_an_engine_uses_the_recorded_settings_and_prices(courses_lines: list[Line]) -> None:
    recording_index = RecordingIndex(courses_lines)
    exchange = next(iter(recording_index.exchanges.values()))
    settings = engine_settings(recording_index)
    assert settings.max_output_tokens == exchange.record.max_output_tokens
    assert list(settings.prices) == [exchange.record.default_model]
