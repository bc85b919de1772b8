"""`python -m reasoning_engine`: run one reasoning engine until it is told to stop."""

from reasoning_engine.component import build
from shared.runner import main

if __name__ == "__main__":
    main("reasoning_engine", build)
