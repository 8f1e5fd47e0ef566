"""The conformance suite: drives any implementation of the Pi agent protocol, in any language, and judges what
it does.

`scenario` says what is done, `lockstep` does it and writes the trace, `normalise` and `compare` say when two
traces are the same, `judge` says what was expected, and `verdict` what that amounts to. `subjects` opens who
is judged, `vectors` and `ruled` keep what real Pi did and where the runtime differs on purpose, and `report`
tells. All of it works on plain JSON; only `subjects.runtime` knows the runtime.
"""
