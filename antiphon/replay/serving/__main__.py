"""`python -m antiphon.replay.serving NAME PLAN`: one component of a rerun, in its own process.

It runs like `python -m NAME`, and is built by the same wiring. PLAN is a file written by the process that
directs the rerun; see `Plan`.
"""

import gc
import sys
from pathlib import Path
from typing import cast

GRACE_S = 0.2
"""Short, as a step that never ends is not worth waiting for."""

if __name__ == "__main__":
    gc.disable()  # imported objects stay; the runner starts the collector
    from antiphon_shared.process.import_path import hidden

    with hidden("rich"):  # as in every component
        import structlog  # noqa: F401  # loaded for the process, not used here
    from antiphon_shared.events import Component
    from antiphon_shared.process.runner import main

    from antiphon.replay.serving.components import part_of
    from antiphon.replay.serving.processes import Plan

    name = cast(Component, sys.argv[1])
    plan = Plan.model_validate_json(Path(sys.argv[2]).read_bytes())
    main(name, lambda bus: part_of(name, bus, plan.scores(), plan.match), grace_s=GRACE_S)
