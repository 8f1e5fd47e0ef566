"""Names and ids as the Messages API wants them; with an OAuth token tools go by the names of Claude Code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ...messages import AssistantMessage

_TOOLS: Final = {
    name.lower(): name
    for name in (
        "Read",
        "Write",
        "Edit",
        "Bash",
        "Grep",
        "Glob",
        "AskUserQuestion",
        "EnterPlanMode",
        "ExitPlanMode",
        "KillShell",
        "NotebookEdit",
        "Skill",
        "Task",
        "TaskOutput",
        "TodoWrite",
        "WebFetch",
        "WebSearch",
    )
}

_NOT_IN_AN_ID: Final = re.compile(r"[^a-zA-Z0-9_-]")


def is_oauth(api_key: str | None) -> bool:
    """Whether a key is a token of a subscription."""
    return "sk-ant-oat" in (api_key or "")


def sent_name(name: str, oauth: bool) -> str:
    """A tool's name as it is sent."""
    return _TOOLS.get(name.lower(), name) if oauth else name


def own_name(name: str, tools: Iterable[str], oauth: bool) -> str:
    """The name of the tool that is called: of those that there are, in whatever case it came."""
    if not oauth:
        return name
    return next((own for own in tools if own.lower() == name.lower()), name)


def call_id(id: str, _: AssistantMessage) -> str:  # noqa: A002
    """The id of another model's call, with the characters and the length that are allowed."""
    units = _NOT_IN_AN_ID.sub(lambda found: "_" * (1 + (found[0] > "\uffff")), id)
    return units[:64]
