"""The redaction of recordings as they are written, and the scan of existing recordings for secrets."""
