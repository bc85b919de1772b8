"""The offline model: a deterministic, rule-based reasoner behind the Anthropic SDK's own transport.

It knows no tool and no subject. From one briefing and the tools' JSON Schemas it decides what to look up
next, and in the end quotes what the tools returned. `reasoner.py` reads first; `transport.py` is the door.
"""
