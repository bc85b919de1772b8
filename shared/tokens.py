"""How many tokens a text has, estimated offline. Pure.

Every kind of character has a price, in hundredths of a token; a text costs the sum. So the estimate is additive:
that of two texts joined is the sum of theirs, whatever they are, and a text can be put together within a budget
piece by piece.
"""

UNITS_PER_TOKEN = 100


def estimate_tokens(text: str) -> int:
    """The estimate, rounded up; 0 for an empty text."""
    return -(-token_units(text) // UNITS_PER_TOKEN)


def token_units(text: str) -> int:
    """The estimate in hundredths of a token: `token_units(a + b) == token_units(a) + token_units(b)`."""
    return 25 * len(text)
