"""Sessions that are about their question alone: what it asks, part by part, is all that is shown of it."""

from tests.recordings.scenario import Scenario, calls, fails, use


def asked(name: str, query: str) -> Scenario:
    """Return a session that searches once without a result, and then has no model any more.

    So the second briefing holds what the question asks and demands, and the partial answer names each part of it
    that is still open. An answer by the model would show neither, however the question had been read.
    """
    return Scenario(
        name,
        query,
        (calls(use("find", query="lamp of Holm")), *(fails(401, "authentication_error"),) * 2),
        ends="model_unavailable",
        deployment="pages",
    )
