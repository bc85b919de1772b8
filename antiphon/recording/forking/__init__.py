"""How a recorded session is gone on with: where it stood, what is changed, and how it gets back into a Redis."""
