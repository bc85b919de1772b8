"""`python -m tests.recordings`: see make.py."""

from tests.recordings.make import main

if __name__ == "__main__":
    main()
