"""The parts of a question, by rules: for where no model has named them. Pure."""


def sub_questions(query: str) -> tuple[str, ...]:
    """What a query asks, one by one, in its own words; the query alone when it asks one thing."""
    return (query,)
