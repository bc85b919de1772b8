"""Tokens by the shapes that their issuers give them: the rules of token_rules.json. Pure.

The file is read when the first text is looked at. `scripts/renew_token_rules.py` makes it from those of Betterleaks,
whose licence stands beside it; it names those that are left out, and why.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple


class Token(NamedTuple):
    """Where a token stands in a text."""

    start: int
    end: int
    issuer: str
    """The rule that found it."""


class _Rule:
    """The shape of one issuer's tokens."""

    def __init__(self, name: str, keywords: list[str], entropy: float, pattern: str) -> None:
        self.name, self.keywords = name, keywords
        self._entropy, self._pattern = entropy, pattern

    @cached_property
    def pattern(self) -> "re.Pattern[str]":
        return re.compile(self._pattern, re.ASCII)

    def tokens(self, text: str) -> Iterator[Token]:
        group = "token" if "token" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if entropy(match[group]) > self._entropy:
                yield Token(*match.span(group), self.name)


class TokenRules:
    """All rules."""

    def __init__(self, rules: list[_Rule], look: str) -> None:
        self._rules = rules
        self.look = look
        """An expression that is found in a text wherever a token is: by its beginning, or by its issuer's name."""

    def tokens(self, text: str) -> list[Token]:
        """The tokens in a text, in order and apart from each other; of two that overlap the first and longest."""
        small = text.lower()
        found = sorted(
            (
                token
                for rule in self._rules
                if any(keyword in small for keyword in rule.keywords)
                for token in rule.tokens(text)
            ),
            key=lambda token: (token.start, -token.end),
        )
        apart: list[Token] = []
        for token in found:
            if not apart or token.start >= apart[-1].end:
                apart.append(token)
        return apart


@cache
def token_rules() -> TokenRules:
    """The rules, read once."""
    data = json.loads(files(__package__).joinpath("token_rules.json").read_text())
    rules = [_Rule(one["id"], one["keywords"], one["entropy"], one["pattern"]) for one in data["rules"]]
    return TokenRules(rules, "|".join(dict.fromkeys(one["look"] for one in data["rules"])))


def entropy(text: str) -> float:
    """Bits for each character, by how often each occurs (Shannon): 0 for `xxxx`, 4 at most for hexadecimal digits."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
