"""Exploration: conversations that nobody has written, made up step by step, judged at each, and shrunk where they fail.

`stimuli` is the table of all that can be done, `setting` that of what a conversation begins with, `machine` the state
machine that draws from both. `judging` says what is wrong, `shares` what was reached, `shrinking` makes it small, and
`remote` plays the same on another subject. Hypothesis is imported by `machine`, `examples` and `search` alone, which
nobody imports before a search begins: importing it changes how trio schedules.
"""
