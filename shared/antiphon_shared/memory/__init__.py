"""What a session knows: facts and their filing, the model's notes, conversations, and the briefing."""
