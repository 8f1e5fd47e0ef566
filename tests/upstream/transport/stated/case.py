"""One stated case, and what most of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from ..cases import Case, Step, answer, call, case
from .speech import APIS, Api

USER = {"role": "user", "content": "Hello", "timestamp": 1}
TOOL = {
    "name": "read",
    "description": "Reads a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
PLAIN: dict[str, Any] = {"messages": [USER]}
TOOLED: dict[str, Any] = {"systemPrompt": "Be brief.", "messages": [USER], "tools": [TOOL]}


@attrs.frozen(kw_only=True)
class Stated:
    """A case with its name and what it is about, in a sentence."""

    name: str
    title: str
    case: Case

    def bare(self) -> Case:
        """The case as a vector has it, where the name stands beside it."""
        return {key: value for key, value in self.case.items() if key != "name"}


def state(
    api: Api,
    name: str,
    title: str,
    steps: Sequence[Step] | None,
    *,
    context: dict[str, Any] = PLAIN,
    options: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    answers: Sequence[dict[str, Any]] | None = None,
    end: str = "end",
    **more: Any,
) -> Stated:
    """A case of one call. Its server says the `steps`, or the `answers` if these are given."""
    full = f"{api.short}_{name}"
    given = [answer(steps or [], end=end)] if answers is None else answers
    return Stated(
        name=full,
        title=title,
        case=case(api.name, api.model(**(model or {})), [call(context, options, **more)], given, full),
    )


def for_each(make: Callable[[Api], Stated], apis: Sequence[Api] = APIS) -> list[Stated]:
    """The same case for several apis."""
    return [make(api) for api in apis]


def refusal(status: int, text: str, **headers: str) -> dict[str, Any]:
    """An answer that is none: a status with a body of JSON."""
    told = {
        "content-type": "application/json",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return answer([text] if text else [], status=status, headers=told, framing="length")
