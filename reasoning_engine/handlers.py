"""The async shell: load the briefing and the tools, have the model reply, say what came of it."""

from collections.abc import Awaitable, Callable

from anthropic.types import ToolParam

from reasoning_engine.deltas import Deltas
from reasoning_engine.engine import reason
from reasoning_engine.model import Model
from reasoning_engine.prompt import tool_params
from reasoning_engine.settings import EngineSettings
from shared.briefing import Briefing
from shared.bus.handling import BRIEFING, Delivery, Handlers, Outcome, SessionStore
from shared.clock import utc_now
from shared.errors import UnreadableEvent
from shared.events import ReasoningRequested
from shared.tools import Catalogue

_OFFERS_KEPT_MAX = 256


class ReasoningEngine:
    """Handlers of everything a reasoning engine consumes."""

    def __init__(
        self,
        model: Model,
        settings: EngineSettings,
        default_model_id: str,
        load_catalogue: Callable[[str], Awaitable[Catalogue]],
    ) -> None:
        self._model, self._settings, self._default_model_id = model, settings, default_model_id
        self._unpriced = settings.without_prices()
        self._load_catalogue = load_catalogue
        self._offers: dict[tuple[str, tuple[str, ...]], list[ToolParam]] = {}

    @property
    def handlers(self) -> Handlers:
        return {ReasoningRequested: self.on_reasoning_requested}

    async def on_reasoning_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Answer with the model's reply, or with why there is none.

        Raises UnreadableEvent when the briefing the request names is not there.
        """
        request = delivery.event.data
        assert isinstance(request, ReasoningRequested)
        seconds_left = (request.deadline - utc_now()).total_seconds()
        briefing = await _briefing(session, request)
        tools = await self._offered(request)
        model_id = request.model or self._default_model_id
        with Deltas(session.stream_text) as deltas:
            outcome = await reason(
                request,
                briefing,
                tools,
                self._model,
                deltas.add,
                self._settings if model_id == self._default_model_id else self._unpriced,
                model_id=model_id,
                seconds_left=seconds_left,
            )
        return Outcome(events=(outcome,))

    async def _offered(self, request: ReasoningRequested) -> list[ToolParam]:
        """The tools the request names, as the catalogue it names describes them; rendered once."""
        if not request.tools:
            return []
        offer = (request.catalogue, request.tools)
        if offer in self._offers:
            return self._offers[offer]
        names = set(request.tools)
        catalogue = await self._load_catalogue(request.catalogue)
        tools = tool_params(tool for tool in catalogue.tools if tool.name in names)
        if tools:
            if len(self._offers) >= _OFFERS_KEPT_MAX:
                self._offers.clear()
            self._offers[offer] = tools
        return tools


async def _briefing(session: SessionStore, request: ReasoningRequested) -> Briefing:
    _, text = await session.document(BRIEFING)
    briefing = Briefing.of((text or b"").decode())
    if briefing.outline.digest != request.briefing:
        raise UnreadableEvent(
            f"the briefing of round {request.round} of session {session.session_id} is not there any more."
        )
    return briefing
