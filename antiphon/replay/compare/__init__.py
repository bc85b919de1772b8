"""A comparison of plans on the same questions: the quality of each answer, and its cost.

    recorded   the recording's own answer
    single     one call of the model, without tools
    linear     the round loop in one process, with the whole message history
    rounds     the event-driven pipeline, embedded

`questions.py` reads the questions, `ask.py` asks them, `scoring.py` and `matchers.py` judge the answers, `table.py`
lists the results, `page.py` shows them as HTML.
"""
