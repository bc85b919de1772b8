"""Findings of a scan that a person has reviewed and allows: a file with a line for each. Pure.

    # a comment
    3f2a9c01d4e5b677  the password of the example database
    /^email /         addresses of the example shop

A line begins with the fingerprint that the scan prints, or with a regular expression between slashes, without spaces,
for the kind and the path of a finding, such as `/^secret_key \\$\\.event\\.data/`. The reason follows, and is required.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from antiphon_shared.process.errors import ConfigurationError

from antiphon.recording.redaction.scan import Finding

_ENTRY = re.compile(r"(?P<fingerprint>[0-9a-f]{16})|/(?P<place>\S+)/")


@dataclass(frozen=True, slots=True)
class Allowed:
    """An allow-list of findings."""

    fingerprints: frozenset[str] = frozenset()
    patterns: tuple["re.Pattern[str]", ...] = ()

    @classmethod
    def of(cls, text: str) -> "Allowed":
        """Read a list. Raises ConfigurationError, which names the line."""
        fingerprints, patterns = [], []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            entry, _, reason = line.strip().partition(" ")
            matched = _ENTRY.fullmatch(entry)
            if matched is None or not reason.strip():
                raise ConfigurationError(
                    f"line {number} of the allow-list is invalid.",
                    hint="A line consists of a fingerprint of 16 digits, or of a /pattern/ for kind "
                    "and path, followed by a reason.",
                )
            if matched["fingerprint"]:
                fingerprints.append(matched["fingerprint"])
                continue
            try:
                patterns.append(re.compile(matched["place"]))
            except re.error as error:
                raise ConfigurationError(f"line {number} of the allow-list: {error}.") from None
        return cls(frozenset(fingerprints), tuple(patterns))

    def remove_allowed(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are not allowed."""
        return [finding for finding in findings if not self._is_allowed(finding)]

    def _is_allowed(self, finding: Finding) -> bool:
        kind_and_path = f"{finding.kind} {finding.path}"
        return finding.fingerprint in self.fingerprints or any(
            one.search(kind_and_path) for one in self.patterns
        )
