"""The package of examples: in a checkout the folder `examples/`; in the wheel that folder replaces this file."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[1] / "examples")]
