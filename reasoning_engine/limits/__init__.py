"""What may be asked of a model in a minute, kept in Redis for all engines of a deployment."""
