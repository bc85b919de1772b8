"""The memory of a session: facts and their filing, the model's notes, conversations, and the briefing."""
