"""`python -m response_assembler`: run one response assembler until it is told to stop."""

from antiphon_shared.process.runner import main

from response_assembler.component import build

if __name__ == "__main__":
    main("response_assembler", build)
