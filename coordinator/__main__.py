"""`python -m coordinator`: run one coordinator until it is told to stop."""

from coordinator.component import build
from shared.runner import main

if __name__ == "__main__":
    main("coordinator", build)
