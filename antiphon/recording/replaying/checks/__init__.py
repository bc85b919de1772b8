"""One file for each component: its recorded steps, done again by its own pure code."""
