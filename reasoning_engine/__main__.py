"""`python -m reasoning_engine`: run one reasoning engine until it is told to stop."""

from antiphon_shared.process.runner import main

from reasoning_engine.component import build

if __name__ == "__main__":
    main("reasoning_engine", build)
