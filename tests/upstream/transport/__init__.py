"""The transport in lockstep with real pi-ai: the same bytes of a provider, for both, and what each makes of them.

A *case* (`cases.py`) is a request for a response and what the provider answers to it, byte by byte. One local
server (`server.py`, `websocket.py`) answers it to real pi-ai, which a Node process drives (`pi_ai.mjs`,
`pi_side.py`), and to this package (`our_side.py`): `lockstep.py` runs many cases at once on both sides. The events
without their `partial`, the final message, what there was at each hold, and the requests as the server got them
must be equal, after `normalise.py`, or a named decision says why not (`decisions.py`, told in
`spec/deviations/transport.md`); one that is never needed fails the run.

Cases are generated: an api's `generate_<name>.py` says what its provider may say (the interface is in `spoken.py`,
the parts that all share in `contexts.py`), `event_stream.py` writes it, and `faults.py` cuts, truncates, garbles,
refuses, delays and aborts it. `bodies.py` makes the requests whose bodies are compared. Each case has a token:

    python -m tests.upstream.transport --api anthropic-messages --cases 5000 --seed 1 --release 1.6.0
    python -m tests.upstream.transport --token anthropic-messages:1:17
    python -m tests.upstream.transport --api anthropic-messages --self     # real Pi on both sides: is the lab exact?

**A new decision** has its entry in a table of decisions, its row in the spec, and a witness in `witnesses.json`: a case
that needs it (`--token … --write FILE`).

**To bring an adapter in**: its place in `our_side.ADAPTERS`, and its generator in `spoken.GENERATORS`. The adapter
has `stream(model, context, options)` and `stream_simple(…)`, each of which gives an async context manager around a
stream with `result()`. Options that only one adapter knows are in `ProviderOptions.provider`, by their snake_case
names.
"""
