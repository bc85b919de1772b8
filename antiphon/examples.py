"""In a checkout `antiphon.examples` is the folder `examples/`; in the wheel that folder takes this file's place."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[1] / "examples")]
