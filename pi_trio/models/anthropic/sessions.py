"""What an adapter remembers of sessions: which had too many strict tools, and where the conversation can go on (1.6.0).

Anthropic keeps what it has answered, for a while. A request that begins with all of that, and with the same settings,
names the last answer and sends only what is new: it *continues the thread*. Each answer can be continued once. Where it
cannot (it is forgotten, or something has changed), the request is sent whole, and begins a new thread; an endpoint that
knows no threads turns them off for the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import attrs

from ...jsontext import print_json
from ...jsonvalue import JSON
from ...messages import Model
from ..recent import Recent
from ..transport_errors import StatusError

#: What must be the same in all requests of a thread, besides the endpoint.
_SETTINGS: Final = (
    "model",
    "system",
    "tools",
    "thinking",
    "output_config",
    "tool_choice",
    "betas",
    "fallbacks",
)
#: Refusals to continue a thread, after which a new one is begun.
_NEW_THREAD: Final = frozenset(
    {
        "thread_not_found",
        "thread_already_continued",
        "thread_continue_in_flight",
        "thread_fingerprint_mismatch",
    }
)


@attrs.frozen
class Told:
    """How far a thread has come: so many messages, what they say, and the answer that the last one is."""

    count: int
    digest: bytes
    answer: str


class Sessions:
    """The sessions of one adapter.

    Attributes:
        relaxed: those in which there were too many strict tools.
        threads: where their requests can go on; None where threads are off.
    """

    def __init__(self) -> None:
        self.relaxed: Recent[bool] = Recent()
        self.threads: Recent[Told | None] = Recent()

    def relax(self, session: str | None) -> None:
        """There were too many strict tools; without a session it is forgotten at once."""
        if session is not None:
            self.relaxed[session] = True

    def threaded(self, model: Model, session: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The body as one that continues the thread of the session, or begins one; None where threads are off."""
        told = self.threads.get(session)
        if told is None:
            return None if session in self.threads else new_thread(body)
        messages = body["messages"]
        if len(messages) <= told.count or _digest(model, body, messages[: told.count]) != told.digest:
            return new_thread(body)
        del self.threads[session]  # each answer can be continued once
        rest = {name: value for name, value in body.items() if name not in ("system", "tools")}
        return {
            **rest,
            "messages": messages[told.count :],
            "thread": {"type": "continue", "previous_message_id": told.answer},
        }

    def turn_off(self, session: str) -> None:
        """The endpoint knows no threads."""
        self.threads[session] = None

    def go_on(
        self, model: Model, session: str, body: Mapping[str, Any], reply: Sequence[JSON], answer: str
    ) -> None:
        """A request of a thread has been answered; the next one may continue here."""
        messages = [*body["messages"], *reply]
        self.threads[session] = Told(len(messages), _digest(model, body, messages), answer)


def new_thread(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as one that begins a thread."""
    return {**body, "thread": {"type": "create"}}


def may_begin_anew(code: str | None) -> bool:
    """Whether a new thread may do what a refused one could not."""
    return code in _NEW_THREAD


def knows_no_threads(refusal: StatusError, code: str | None, text: str) -> bool:
    """Whether a request was refused for being one of a thread."""
    return code == "thread_unsupported_request" or (
        code is None and refusal.status == 400 and "thread" in text
    )


def _digest(model: Model, body: Mapping[str, Any], messages: Sequence[Any]) -> bytes:
    """What has to be the same in the next request, in short."""
    settings = [model.provider, model.base_url, *(body.get(name) for name in _SETTINGS)]
    return sha256(print_json([settings, _meaning(list(messages))]).encode()).digest()


def _meaning(value: Any) -> Any:
    """What messages say: marks of the cache move from request to request, and a text may stand alone or as a block."""
    if isinstance(value, (list, tuple)):
        return [_meaning(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: [{"type": "text", "text": each}]
        if name == "content" and isinstance(each, str)
        else _meaning(each)
        for name, each in value.items()
        if name != "cache_control"
    }
