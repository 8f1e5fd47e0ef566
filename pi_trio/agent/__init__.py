"""The agent. Who owns whom, from what lives longest:

- an `Agent` (`agent.py`) keeps a transcript and a state (`state.py`), two queues (`queues.py`, and `inbox.py`, which is
  what users see of them), its options (`options.py`) and the subscribers across runs; it has at most one `ActiveRun`
  (`active.py`), which its caller awaits, and which takes messages from the queues (`polls.py`);
- a `Run` (`run.py`) is what a run is made safe by: events out (`delivery.py`), failure in, waits for the outside
  (`wait.py`), tasks for deliveries that may overlap (`couriers.py`, `under_way.py`), and a record of what was said and
  is owed (`ledger.py`). `settlement.py` plays it to its end in a nursery (`nursery.py`), and `failure.py` writes the
  events that end a run which was cut;
- a `LoopState` (`config.py`) is where the algorithm stands: `loop.py` has the turns, `response.py` one response,
  `batch.py` one batch of calls, `call.py` one call. Hooks (`hooks.py`) see and change it between steps.

`lowlevel.py` is the same without an `Agent`. What the user has given is called and awaited through `interrupts.py`,
because that is the only code of a run in which Ctrl-C may strike.
"""

from __future__ import annotations
