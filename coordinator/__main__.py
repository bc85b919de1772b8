"""`python -m coordinator`: run one coordinator until it is told to stop."""

from antiphon_shared.process.runner import main

from coordinator.component import build

if __name__ == "__main__":
    main("coordinator", build)
