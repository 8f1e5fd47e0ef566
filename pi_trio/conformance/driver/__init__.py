"""The runtime behind the driver protocol: what `pi-trio subject` runs.

`serve.py` reads lines, waits for quiescence, and replies. A conversation is with an agent
(`agent_conversation.py`) or with the loop alone (`loop_conversation.py`); what both have is in `exchange.py`
(the voice, the operations, the commands on asks) and `subscriptions.py` (listeners by name). `asks.py` keeps
the callbacks that wait for the tester, `callbacks.py` makes callables of what the tester describes, and
`fields.py`, `showing.py` and `offers.py` say how commands are read, how values are shown, and what is
offered.
"""

from __future__ import annotations
