"""Findings of a scan that a person has reviewed and allows: a file with a line for each. Pure.

    # a comment
    3f2a9c01d4e5b677  the password of the example database
    /^email /         addresses of the example shop

First the fingerprint that the scan prints, or a regular expression between slashes, without spaces, that the kind and
the path of a finding match, as in `/^secret_key \\$\\.event\\.data/`; then the reason, which is required.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from antiphon_shared.process.errors import ConfigurationError

from antiphon.recording.redaction.scan import Finding

_ENTRY = re.compile(r"(?P<fingerprint>[0-9a-f]{16})|/(?P<place>\S+)/")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The findings that an allow-list lets pass."""

    fingerprints: frozenset[str] = frozenset()
    places: tuple["re.Pattern[str]", ...] = ()

    @classmethod
    def of(cls, text: str) -> "Allowed":
        """Read a list. Raises ConfigurationError, which names the line."""
        fingerprints, places = [], []
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
                places.append(re.compile(matched["place"]))
            except re.error as error:
                raise ConfigurationError(f"line {number} of the allow-list: {error}.") from None
        return cls(frozenset(fingerprints), tuple(places))

    def remove_allowed(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are not allowed."""
        return [finding for finding in findings if not self._lets_pass(finding)]

    def _lets_pass(self, finding: Finding) -> bool:
        place = f"{finding.kind} {finding.path}"
        return finding.fingerprint in self.fingerprints or any(one.search(place) for one in self.places)
