"""A tool that returns more than a briefing can hold."""

from antiphon import tool

HARBOURS = 150


@tool(effect="read")
def read_archive(topic: str) -> list[dict[str, str]]:
    """Reads the archive on a topic."""
    return [{"title": f"File {n}", "text": statement(n)} for n in range(1, HARBOURS + 1)]


def statement(n: int) -> str:
    """Return the archive's statement about one harbour: the n-th fact of a session that reads it first."""
    return f"The harbour of Holm {n} has {100 + n} berths and a {topic_of(n)} of its own since the year {1700 + n}."


def topic_of(n: int) -> str:
    return ("lighthouse", "shipyard", "chapel", "school")[n % 4]
