"""`python -m coordinator`: run one coordinator until it is told to stop."""

import gc

from antiphon_shared.process.import_path import current_directory_last

if __name__ == "__main__":
    current_directory_last()  # before anything is imported that a redis.py of the user's own could stand in for
    gc.disable()  # what is imported stays; the runner has the collector begin
    from antiphon_shared.process.runner import main

    from coordinator.component import build

    main("coordinator", build)
