"""The models of all scenarios: a Messages server that recognizes a session by its question."""

import json

from tests.messages_server import MessagesServer, Received, Scripted
from tests.recordings.scenario import Scenario


class ScenarioServer(MessagesServer):
    """Scripts by scenario. A request that names the model of no scenario is assigned by its question.

    A request without a question, such as for a summary, belongs to the first scenario.
    """

    def __init__(self, scenarios: tuple[Scenario, ...]) -> None:
        super().__init__(())
        self._scripts = {one.name: MessagesServer(one.model) for one in scenarios}
        self._scenarios = scenarios

    def asked(self, name: str) -> int:
        """Count the requests to a scenario's model."""
        return len(self._scripts[name].requests)

    def _take(self, received: Received) -> Scripted:
        name = self._name(received)
        self._scripts[name].requests.append(received)
        return self._scripts[name]._take(received)

    def _name(self, received: Received) -> str:
        model = received.body.get("model")
        if model in self._scripts:
            return str(model)
        body = json.dumps(received.body, ensure_ascii=False)
        candidates = [one for one in self._scenarios if one.query in body] or self._scenarios[:1]
        return max(candidates, key=lambda one: len(one.query)).name
