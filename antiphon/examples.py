"""The package of examples: the folder `examples/` of a checkout. In the wheel, that folder replaces this file."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[1] / "examples")]
