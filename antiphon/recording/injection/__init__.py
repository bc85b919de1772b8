"""The injection of faults into recordings, and the course of the session after them."""
