"""The redaction of recordings as they are written, and the scan for secrets in those that exist."""
