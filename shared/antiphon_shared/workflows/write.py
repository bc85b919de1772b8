"""A specification as the YAML of a workflow file. Pure."""

from collections.abc import Sequence
from typing import Any

import yaml

from antiphon_shared.text.control import harmless
from antiphon_shared.workflows.specification import Specification

_WORDS = ("null", "true", "false")
_WIDTH = 110
_FLOW_CHARACTERS_MAX = 80


class _Dumper(yaml.SafeDumper):
    """A dumper whose scalars JSON's rules read back unchanged; short lists and objects are on one line."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = _fits_a_line([part for pair in node.value for part in pair])
        return node

    def represent_sequence(
        self, tag: str, sequence: Any, flow_style: bool | None = None
    ) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = _fits_a_line(node.value)
        return node


def as_yaml(specification: Specification) -> str:
    """Return a file that means the same as a specification."""
    fields = specification.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text: str = yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    # Control characters are in double quotes, see _text, so that they can be written as escapes.
    return "\n".join(map(_escaped, text.split("\n")))


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    may_be_plain = text[:1].isalpha() or text[:1] in ("$", "_", "<")
    is_quoted = not may_be_plain or text in _WORDS or harmless(text) != text or "\n" in text
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if is_quoted else None)


_Dumper.add_representer(str, _text)


def _escaped(line: str) -> str:
    if harmless(line) == line:
        return line
    return "".join(one if harmless(one) == one else f"\\U{ord(one):08X}" for one in line)


def _fits_a_line(nodes: Sequence[yaml.Node]) -> bool:
    is_flat = all(isinstance(node, yaml.ScalarNode) for node in nodes)
    return is_flat and sum(len(node.value) + len(", ") for node in nodes) <= _FLOW_CHARACTERS_MAX
