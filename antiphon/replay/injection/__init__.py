"""The injection of faults into recordings, and the trace of the session after them."""
