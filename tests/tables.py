"""Write the tables again that tests compare outputs with, in files next to the tests; read the difference afterwards.

Each of these tests is also a program that writes its own table: `python -m tests.coordinator.test_every_state`.
"""

import runpy
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_IS_PROGRAM = 'if __name__ == "__main__":'


def main() -> None:
    for path in sorted(Path(__file__).parent.rglob("test_*.py")):
        if _IS_PROGRAM in path.read_text(encoding="utf-8").splitlines():
            name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
            print(name, flush=True)  # noqa: T201  # progress
            runpy.run_module(name, run_name="__main__")


if __name__ == "__main__":
    main()
