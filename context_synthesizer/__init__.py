"""The context synthesizer, which files each round's outcome into memory and rebuilds the briefing.

Consumes briefing.requested. Emits briefing.ready.
"""
