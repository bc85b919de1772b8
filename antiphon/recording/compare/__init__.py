"""The same questions by several plans: how good each answer is, and what it took.

    recorded   as the recording has it
    single     one call of the model, without tools
    linear     the round loop in one process, with the whole message history
    rounds     the event-driven pipeline, embedded

`questions.py` says what is asked, `run.py` asks it, `scoring.py` and `matchers.py` judge the answers, `table.py` adds
up, `page.py` shows it as HTML.
"""
