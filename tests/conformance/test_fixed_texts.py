"""The tester's copy of the fixed texts is what the runtime says, though neither has it from the other."""

from __future__ import annotations

from pi_trio import texts
from pi_trio.conformance import fixed_texts


def test_they_are_the_runtimes() -> None:
    whole = {text for name, text in vars(texts).items() if name.isupper() and "{}" not in text}
    assert whole <= fixed_texts.FIXED_TEXTS
    assert fixed_texts.TRUNCATED in texts.TRUNCATED
    assert (fixed_texts.ABORTED, fixed_texts.CUT) == (texts.OPERATION_ABORTED, texts.REQUEST_ABORTED)
