"""Redaction: it finds secrets and removes them from logs, errors, results and recordings. The entry is `Redactor`.

redactor.py       Redactor: text and JSON without secrets, and the secrets that were found
known_values.py   known secrets, in any form in which they are written
secret_values.py  the known secrets of this process, from its environment and settings
credentials.py    texts in the form of credentials: private keys, signed tokens, headers, URLs, commands
token_rules.py    texts in the form of some issuer's tokens, by the rules in token_rules.json
unnamed_values.py passwords and tokens that no key names, in commands, links and lines
near_words.py     passwords and tokens in calls, near words such as "login", and in lists of codes
first_search.py   the expressions of fast first searches, from the patterns of slow ones
secret_keys.py    keys whose values are secret, in JSON and in text; the grammar of both is in the files it imports
"""
