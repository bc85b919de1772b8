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

from antiphon_shared.text.native_search import NativeSearch

_BEGINS = r"(?:^|[^A-Za-z0-9_]|\\[bfnrt]|\\u[0-9a-f]{4})"
"""What must stand before a token. Without it the parts of a UUID look like the beginnings of some."""


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
        self.look = look
        """An expression that is found in a text wherever a token is: by its beginning, or by its issuer's name."""
        self._look = NativeSearch(look)
        self._by_keyword: dict[str, list[_Rule]] = {}
        for rule in rules:
            for keyword in rule.keywords:
                self._by_keyword.setdefault(keyword, []).append(rule)

    def tokens(self, text: str) -> list[Token]:
        """The tokens in a text, in order and apart from each other; of two that overlap the first and longest."""
        if not self._look.may_match(text):
            return []
        small = text.lower()
        named = [rule for keyword, rules in self._by_keyword.items() if keyword in small for rule in rules]
        found = sorted(
            (token for rule in dict.fromkeys(named) for token in rule.tokens(text)),
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
    data = json.loads(files(__package__).joinpath("token_rules.json").read_text())["rules"]
    rules = [_Rule(one["id"], one["keywords"], one["entropy"], one["pattern"]) for one in data]
    begins = "|".join(dict.fromkeys(one["look"] for one in data if one["begins"]))
    named = "|".join(dict.fromkeys(one["look"] for one in data if not one["begins"]))
    return TokenRules(rules, f"{_BEGINS}(?:{begins})|{named}")


def entropy(text: str) -> float:
    """Bits for each character, by how often each occurs (Shannon): 0 for `xxxx`, 4 at most for hexadecimal digits."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
