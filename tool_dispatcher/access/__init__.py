"""What a session may do: its grant, verified, and the rules every call is held against. Read `gatekeeper.py` first."""
