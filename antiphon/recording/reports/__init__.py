"""What verifications have found, told: one file per form. Pure."""
