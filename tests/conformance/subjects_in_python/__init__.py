"""Small but right implementations of Pi's loop, in plain Python and without this package, for the tester to judge.

`agent.py` is the loop in blocking style, `wire.py` the driver protocol, `stages.py` what the code runs on. There are
two: `threaded.py` has a real thread for each call of a batch, so the order inside a step is what the machine makes of
it; `synchronous.py` calls its listeners and never waits for them.
"""
