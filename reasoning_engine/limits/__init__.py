"""The limits of a model per minute, kept in Redis for all engines of a deployment."""
