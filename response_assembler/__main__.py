"""`python -m response_assembler`: run one response assembler until it is told to stop."""

from response_assembler.component import build
from shared.runner import main

if __name__ == "__main__":
    main("response_assembler", build)
