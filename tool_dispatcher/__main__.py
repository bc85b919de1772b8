"""`python -m tool_dispatcher`: run one tool dispatcher until it is told to stop."""

from antiphon_shared.process.runner import main

from tool_dispatcher.component import build

if __name__ == "__main__":
    main("tool_dispatcher", build)
