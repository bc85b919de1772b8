"""Redaction: what finds secrets, and takes them out of logs, errors, results and recordings. One way in: `Redactor`.

redactor.py       Redactor: text and JSON without secrets, and what was found
known_values.py   secrets that are known, in whatever form they are written
secret_values.py  which those of this process are, from its environment and settings
credentials.py    what looks like one: private keys, signed tokens, headers, URLs, lines of files and commands
token_rules.py    what looks like a token of some issuer, by the rules in token_rules.json
secret_keys.py    keys whose values are secret, in JSON and in text; the grammar of both is in the files it imports
"""
