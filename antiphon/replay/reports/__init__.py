"""The reports of verifications, one file per form. Pure."""
