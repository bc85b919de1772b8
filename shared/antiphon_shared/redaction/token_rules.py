"""Tokens in the forms of their issuers: the rules of token_rules.json. Pure.

The file is read on first use. `scripts/renew_token_rules.py` makes it from the rules of Betterleaks, whose
licence is in the same folder; the file names the omitted rules, and why.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.resources import files

from antiphon_shared.text.native_search import NativeSearch

_BEGINS = r"(?:^|[^A-Za-z0-9_]|\\[bfnrt]|\\u[0-9a-f]{4})"
"""The text before a token. Without it, parts of a UUID look like the beginnings of some tokens."""


class _Rule:
    """The form of one issuer's tokens."""

    def __init__(self, keywords: list[str], entropy: float, pattern: str) -> None:
        self.keywords = keywords
        self._entropy, self._pattern = entropy, pattern

    @cached_property
    def pattern(self) -> "re.Pattern[str]":
        return re.compile(self._pattern, re.ASCII)

    def tokens(self, text: str) -> Iterator[tuple[int, int]]:
        group = "token" if "token" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if entropy(match[group]) > self._entropy:
                yield match.span(group)


class TokenRules:
    """All rules."""

    def __init__(self, rules: list[_Rule], look: str) -> None:
        self.look = look
        """An expression that matches in every text with a token, by its beginning or by its issuer's name."""
        self._look = NativeSearch(look)
        self._by_keyword: dict[str, list[_Rule]] = {}
        for rule in rules:
            for keyword in rule.keywords:
                self._by_keyword.setdefault(keyword, []).append(rule)

    def tokens(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the positions of the tokens in a text, which may overlap."""
        if not self._look.may_match(text):
            return
        small = text.lower()
        likely = [rule for keyword, rules in self._by_keyword.items() if keyword in small for rule in rules]
        for rule in dict.fromkeys(likely):
            yield from rule.tokens(text)


@cache
def token_rules() -> TokenRules:
    """Return the rules, read once."""
    data = json.loads(files(__package__).joinpath("token_rules.json").read_text())["rules"]
    rules = [_Rule(one["keywords"], one["entropy"], one["pattern"]) for one in data]
    begins = "|".join(dict.fromkeys(one["look"] for one in data if one["begins"]))
    keywords = "|".join(dict.fromkeys(one["look"] for one in data if not one["begins"]))
    return TokenRules(rules, f"{_BEGINS}(?:{begins})|{keywords}")


def entropy(text: str) -> float:
    """Return the bits per character by frequency (Shannon): 0 for `xxxx`, 4 at most for hexadecimal digits."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
