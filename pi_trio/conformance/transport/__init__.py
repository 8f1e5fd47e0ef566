"""The transport: what the adapters of providers must share, and how it is judged.

An agent is judged by the driver protocol; a transport by what it makes of a provider's bytes. `vector` reads the
recorded cases, `replay` plays them to an adapter without a socket, and `judge` puts what differs down to the clauses
of the family MODEL-. The events alone, as in a log, are judged by `monitors.response`.
"""
