"""`python -m context_synthesizer`: run one context synthesizer until it is told to stop."""

from context_synthesizer.component import build
from shared.runner import main

if __name__ == "__main__":
    main("context_synthesizer", build)
