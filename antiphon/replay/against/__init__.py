"""The verification of recordings by two versions of the code: today's, and a git ref or a released version."""
