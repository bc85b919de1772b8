"""Circuit breakers in memory, which hold their users to the rules: an ending is noted once, a probe's always."""

from antiphon_shared.breakers.breaker import CLOSED, Allowed, BreakerState, RefusedCall

HALF_OPEN = BreakerState(opened=1.0, probed=2.0)


class FakeBreakers:
    """Gives the scripted answers in order, then lets every call through."""

    def __init__(self, *answers: Allowed | RefusedCall) -> None:
        self.noted: list[tuple[str, bool]] = []
        self.under_way, self.is_probed = 0, False
        self._answers = list(answers)

    async def ask(self, name: str) -> Allowed | RefusedCall:
        assert name.startswith("model:")
        answer = self._answers.pop(0) if self._answers else Allowed(CLOSED)
        if isinstance(answer, Allowed):
            self.under_way += 1
            self.is_probed |= answer.state.probed is not None
        return answer

    def note(self, name: str, is_failure: bool) -> None:
        assert self.under_way > 0, f"{name}: an ending of a call that was not let through, or noted before"
        self.under_way, self.is_probed = self.under_way - 1, False
        self.noted.append((name, is_failure))
