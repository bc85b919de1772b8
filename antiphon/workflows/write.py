"""A specification as the YAML of a workflow file. Pure."""

import re
from typing import Any

import yaml
from antiphon_shared.text.control import harmless
from antiphon_shared.workflows.specification import Specification

_PLAIN = re.compile(r"[$A-Za-z_][\w$.-]*(?: [\w$.-]+)*", re.ASCII)
_WORDS = ("null", "true", "false")
_WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Writes so that JSON's rules for scalars read the same values again."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    is_plain = _PLAIN.fullmatch(text) is not None and text not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Dumper.add_representer(str, _text)


def as_yaml(specification: Specification) -> str:
    """Return a file that means the same as a specification."""
    fields = specification.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text: str = yaml.dump(
        fields, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=_WIDTH
    )
    # What steers a terminal stands only in quotes, as _PLAIN has none of it: there it can be written as an escape.
    return "\n".join(_escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    if harmless(line) == line:
        return line
    return "".join(one if harmless(one) == one else f"\\U{ord(one):08X}" for one in line)
