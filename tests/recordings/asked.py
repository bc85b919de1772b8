"""Sessions that test the reading of their question alone: briefing and answer show each part of it."""

from tests.recordings.scenario import Scenario, calls, fails, use


def asked(name: str, query: str) -> Scenario:
    """Return a session that searches once without a result, and whose model then fails.

    Thus the second briefing has the questions and demands of the query, and the partial answer names each part that
    is still open. An answer by the model would show neither.
    """
    return Scenario(
        name,
        query,
        (calls(use("find", query="lamp of Holm")), *(fails(401, "authentication_error"),) * 2),
        ends="model_unavailable",
        deployment="pages",
    )
