"""What a run came to, for its caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from ..errors import PiTrioError
from ..messages import AssistantMessage, Message, TextContent, Usage, UsageCost
from .ledger import FAILED


class RunFailedError(PiTrioError):
    """`RunResult.raise_for_error()`: the run ended in an error or was aborted. The text is the run's error message."""


@attrs.frozen(kw_only=True)
class RunResult:
    """A settled run.

    Attributes:
        messages: what the run has said, in order: prompts, answers, results.
        text: the text of the last answer.
        stop_reason: why the last answer stopped; "error" or "aborted" mean that the run did not succeed.
        usage: the tokens of all answers together.
        error_message: of the last answer, if it failed.
        errors: the exceptions behind it, with their tracebacks; the first is the cause.
    """

    messages: tuple[Message, ...]
    text: str
    stop_reason: str
    usage: Usage
    error_message: str | None
    errors: tuple[BaseException, ...]

    def raise_for_error(self) -> RunResult:
        """Return the result itself if the run succeeded.

        Raises:
            RunFailedError: it did not; the exception behind it, where there is one, is the cause.
        """
        if self.stop_reason not in FAILED:
            return self
        cause = self.errors[0] if self.errors else None
        raise RunFailedError(self.error_message or f"the run was {self.stop_reason}") from cause


def result_of(said: Sequence[Message], errors: Sequence[BaseException]) -> RunResult:
    """The result of a run that said `said`. Never raises, though a partial that became the failure message
    may hold anything.
    """
    answers = [message for message in said if isinstance(message, AssistantMessage)]
    last = answers[-1] if answers else None
    texts: list[object] = [] if last is None else [b.text for b in last.content if isinstance(b, TextContent)]
    return RunResult(
        messages=tuple(said),
        text="".join(text for text in texts if isinstance(text, str)),
        # Without an answer even the ending could not be told, of which the errors tell.
        stop_reason="error" if last is None else last.stop_reason,
        usage=total_usage(answer.usage for answer in answers if is_countable(answer.usage)),
        error_message=None if last is None else last.error_message,
        errors=tuple(errors),
    )


def is_countable(usage: object) -> bool:
    """Whether it is a usage, with numbers in all places that are counted."""
    if not isinstance(usage, Usage):
        return False
    tokens = usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total_tokens
    cost: object = usage.cost
    if not isinstance(cost, UsageCost):
        return False
    numbers = (*tokens, cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total)
    return all(isinstance(number, (int, float)) for number in numbers)


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum of several usages, without their unknown fields."""
    total = Usage.zero()
    for usage in usages:
        total = Usage(
            input=total.input + usage.input,
            output=total.output + usage.output,
            cache_read=total.cache_read + usage.cache_read,
            cache_write=total.cache_write + usage.cache_write,
            total_tokens=total.total_tokens + usage.total_tokens,
            cost=UsageCost(
                input=total.cost.input + usage.cost.input,
                output=total.cost.output + usage.cost.output,
                cache_read=total.cost.cache_read + usage.cost.cache_read,
                cache_write=total.cost.cache_write + usage.cost.cache_write,
                total=total.cost.total + usage.cost.total,
            ),
        )
    return total
