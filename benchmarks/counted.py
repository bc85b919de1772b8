"""Run a component and count the calls of its functions: `python benchmarks/counted.py FOLDER MODULE`.

On SIGUSR1 it writes the counts so far to FOLDER/PID.json: by place, how often a Python function was called and how
many C functions it called. Only the main thread is counted, which runs the event loop.
"""

import json
import os
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType


def main(folder: Path, module: str) -> None:
    """Run `module` as a program with counting switched on."""
    counts: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_call"):
            counts[frame.f_code] += 1

    def write(_signal: int, _frame: FrameType | None) -> None:
        sys.setprofile(None)
        file = folder / f"{os.getpid()}.json"
        incomplete = file.with_suffix(".incomplete")
        incomplete.write_text(json.dumps(_by_place(counts)))
        incomplete.rename(file)
        sys.setprofile(count)

    signal.signal(signal.SIGUSR1, write)
    sys.argv = [module]
    sys.setprofile(count)
    runpy.run_module(module, run_name="__main__")


def _by_place(counts: Counter[CodeType]) -> dict[str, int]:
    """Sum up by folder, file and function: the path to a tree is left out, as two trees are compared."""
    places: Counter[str] = Counter()
    for code, number in counts.items():
        places[f"{'/'.join(Path(code.co_filename).parts[-2:])}: {code.co_qualname}"] += number
    return places


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
