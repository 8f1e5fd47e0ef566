"""The scripted model that answers where none was named: it shows how a run goes, with no key and no network.

It knows nothing, and says so; of the tools that it is given it calls those that change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pi_trio.jsonvalue import JSON
from pi_trio.messages import AssistantMessage, Content, Message, Model, ToolResultMessage, UserMessage
from pi_trio.models.scripted import ScriptedProvider, ScriptedState, assistant, text, tool_call
from pi_trio.models.stream import ModelContext, Opened, StreamOptions

SHOWN: Final = 400
"""Characters of a result that are repeated."""


class Demonstration:
    """Answers any number of requests.

    Args:
        tools: the names of the tools that the agent has.
    """

    def __init__(self, tools: Sequence[str] = ()) -> None:
        self._provider = ScriptedProvider()
        self._tools = tuple(tools)

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._provider.models[0]

    def stream(self, model: Model, context: ModelContext, options: StreamOptions) -> Opened:
        """The stream function."""
        self._provider.append_responses([self._answer])
        return self._provider.stream(model, context, options)

    def _answer(
        self, context: ModelContext, _options: StreamOptions, _state: ScriptedState, _model: Model
    ) -> AssistantMessage:
        results = _results(context.messages)
        if results:
            return assistant("\n\n".join(map(_repeated, results)))
        calls = [
            tool_call(name, arguments) for name in self._tools if (arguments := _harmless(name)) is not None
        ]
        introduction: list[Content] = [text(_introduction(context.messages, self._tools, bool(calls)))]
        return assistant(*introduction, *calls, stop_reason="toolUse" if calls else "stop")


def _introduction(messages: tuple[Message, ...], tools: tuple[str, ...], calls: bool) -> str:
    prompt = next((each.text for each in reversed(messages) if isinstance(each, UserMessage)), "")
    said = [
        "I am the scripted model: I need no key, and know nothing.",
        f"Your prompt has {len(prompt.split())} word(s): “{_cut(prompt, 80)}”",
        "For an answer name a model, as by `pi-trio run --model anthropic/claude-sonnet-4-5 …`.",
    ]
    if calls:
        said.append("I call the tools that change nothing, to show how that looks.")
    elif tools:
        said.append("I call none of these tools: that would change something, or there is nothing to read.")
    else:
        said.append("With `--tools read,bash` I show how calls look, and with `--json` how events do.")
    return "\n".join(said)


def _results(messages: tuple[Message, ...]) -> list[ToolResultMessage]:
    """Those that the last response's calls have got."""
    found: list[ToolResultMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolResultMessage):
            break
        found.insert(0, message)
    return found


def _repeated(result: ToolResultMessage) -> str:
    said = _cut(result.text, SHOWN)
    return f"`{result.tool_name}` {'has failed' if result.is_error else 'has said'}:\n{said}"


def _harmless(tool: str) -> dict[str, JSON] | None:
    """Arguments with which a tool changes nothing; None if there are none."""
    match tool:
        case "read":
            path = next(_readable(), None)
            return None if path is None else {"path": path, "limit": 5}
        case "bash":
            return {"command": "echo Hello from $(uname)"}
        case _:
            return None


def _readable() -> Iterator[str]:
    """Files here that can be shown, a README first."""
    names = sorted(
        path.name for path in Path().iterdir() if path.is_file() and path.suffix in (".md", ".txt", ".toml")
    )
    yield from sorted(names, key=lambda name: not name.lower().startswith("readme"))


def _cut(said: str, length: int) -> str:
    return said if len(said) <= length else f"{said[:length]} …"
