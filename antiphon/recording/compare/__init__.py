"""The former path of `antiphon.replay.compare`, for one release."""
