"""The offline model: a deterministic, rule-based reasoner behind the Anthropic SDK's own transport.

It knows no tool and no subject. From one briefing and the tools' JSON Schemas it decides what to look up
next, and in the end quotes the tools' results. Read `reasoner.py` first; `transport.py` connects it to the
SDK.
"""
