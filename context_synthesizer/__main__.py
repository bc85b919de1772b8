"""`python -m context_synthesizer`: run one context synthesizer until it is told to stop."""

from antiphon_shared.process.runner import main

from context_synthesizer.component import build

if __name__ == "__main__":
    main("context_synthesizer", build)
