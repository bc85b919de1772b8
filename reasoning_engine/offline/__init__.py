"""The offline model: a deterministic, rule-based reasoner. Pure.

It knows no tool and no subject. From one briefing and the tools' JSON Schemas it decides what to look up
next, and in the end quotes the tools' results. Read `reasoner.py` first; `offline_model.py` next to this
package is the model that the engine calls.
"""
