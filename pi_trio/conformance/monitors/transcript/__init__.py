"""The monitors of the transcript: what is asked when, who waits for whom, where messages come from.

Each judges a few clauses that need more than events. They share a `Stage`, which knows what is going on.
"""
