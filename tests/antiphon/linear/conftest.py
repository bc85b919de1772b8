"""A model on a scripted server, and no settings but those that make it quick."""

import os

import pytest

from tests.messages_server import MessagesServer


@pytest.fixture(autouse=True)
def _quick_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ANTIPHON", "ANTHROPIC", "OPENAI"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S", "0.001")
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_BACKOFF_MAX_S", "0.002")


@pytest.fixture
def asked_of(monkeypatch: pytest.MonkeyPatch) -> "AskedOf":
    return AskedOf(monkeypatch)


class AskedOf:
    """Points the model at a server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, server: MessagesServer) -> None:
        self._monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
