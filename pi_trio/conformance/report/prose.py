"""One trace line in a few words, for people.

What a person needs to follow a run is who said what about what: the event's type, the call's id, the text.
The whole JSON is one option away and is never rebuilt from this. Whatever comes from a subject loses its
control characters here.
"""

from __future__ import annotations

from typing import Any, Final

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.shown import printable

WIDTH: Final = 100
"""Characters of a value that is quoted in a line."""


def quoted(value: Any, width: int = WIDTH) -> str:
    """A value as JSON text, shortened in its middle if it is long."""
    text = printable(value)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


_ENDS: Final = {
    "settled": "everything has settled",
    "open": "something still waits for the tester",
    "hang": "an operation never settles, and nothing is open any more",
    "crash": "the subject has ended",
    "silent": "the reply never came",
    "late": "what was due never came",
    "fault": "it broke the protocol",
    "endless": "it never came to an end",
}
"""How a trace ends, in words."""


def sent(command: Object) -> tuple[str, str]:
    """What the tester does: the command, and what it is about."""
    name = command["cmd"]
    match name:
        case "create":
            return name, _creation(command)
        case "prompt":
            return f"{name} {command['op']}", _input(command["input"])
        case "continue" | "waitForIdle":
            return f"{name} {command['op']}", ""
        case "steer" | "followUp":
            return name, message(command["message"])
        case "answer":
            return name, f"{address(command['ask'])}{_given(command)}"
        case "update":
            return name, f"{address(command['ask'])}: {quoted(command['value'])}"
        case "push":
            return name, f"{address(command['ask'])}: {provider_event(command['event'])}"
        case "end":
            result = f": {message(command['result'])}" if "result" in command else " without a result"
            return name, f"{address(command['ask'])}{result}"
        case "fail":
            return name, f"{address(command['ask'])}: {quoted(command['error'])}"
        case "burst":
            return name, "; ".join(" ".join(filter(None, sent(part))) for part in command["cmds"])
        case _:
            rest = {key: value for key, value in command.items() if key != "cmd"}
            return name, quoted(rest) if rest else ""


def heard(line: Object) -> tuple[str, str]:
    """What the subject says: who speaks (a listener, a callback, a report), and what of."""
    who, what = _heard(line)
    return one_line(who), one_line(what)


def clean(text: str) -> str:
    """Text of unknown origin without control characters, lines kept."""
    return "\n".join(map(one_line, text.expandtabs(4).split("\n")))


def one_line(text: str) -> str:
    """Text of unknown origin as one line without control characters."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def _heard(line: Object) -> tuple[str, str]:
    match line:
        case {"tell": "event"}:
            return str(line["key"]), event(line["event"])
        case {"tell": "settled"}:
            outcome = "settled" if line["ok"] else f"failed: {quoted(line['error'])}"
            return f"{line['op']}", outcome
        case {"tell": "signal" | "withdrawn" as what}:
            return f"({what})", address(line["ask"])
        case {"tell": "prepareArguments"}:
            return "prepareArguments", f"{line['tool']} {quoted(line['args'])}"
        case {"tell": str(what)}:
            return what, quoted({key: value for key, value in line.items() if key != "tell"})
        case {"ask": {"fn": "listener", "key": key}}:
            return str(key), f"{event(line['args']['event'])} (asked){_raised(line)}"
        case {"ask": dict(asked), "args": args}:
            return _callback(asked), f"{_arguments(asked['fn'], args)}{_raised(line)}"
        case {"reply": value}:
            return "reply", quoted(value)
        case {"error": text}:
            return "refused", quoted(text)
        case {"unresolved": asked}:
            return "not sent", f"{address(asked)} was never asked"
        case {"end": how}:
            return "end", str(how)
        case _:
            return "?", quoted(line)


def plain(line: Object) -> str:
    """A line in words, in one piece."""
    if "end" in line:
        return f"(the end: {_ENDS.get(line['end']) or one_line(str(line['end']))})"
    who, what = sent(line["send"]) if "send" in line else heard(line)
    return f"{who} {what}".strip()


def address(asked: Object) -> str:
    """An address: `execute t1`, `L turn_end`, with a number from the second on."""
    fn = asked["fn"]
    words = (
        [str(asked["key"])]
        if fn == "listener" and "key" in asked
        else [fn, *([asked["key"]] if "key" in asked else [])]
    )
    words += [asked["event"]] if "event" in asked else []
    words += [f"#{asked['nth'] + 1}"] if asked.get("nth") else []
    return " ".join(map(str, words))


def event(value: Object) -> str:
    """An agent event."""
    kind = value["type"]
    match value:
        case {"type": "message_update", "assistantMessageEvent": dict(inner)}:
            return f"{kind} {provider_event(inner)}"
        case {"message": dict(said)}:
            return f"{kind} {message(said)}"
        case {"type": "agent_end", "messages": list(messages)}:
            return f"{kind} {_count(messages, 'message')}"
        case {"toolCallId": called, "toolName": name}:
            failed = "error " if value.get("isError") is True else ""
            about = value.get("result", value.get("partialResult", value.get("args")))
            return f"{kind} {called} {name} {failed}{quoted(about, 60)}"
        case _:
            return str(kind)


def message(value: Any) -> str:
    """A message: its role and the text in it."""
    if not isinstance(value, dict) or "role" not in value:
        return quoted(value)
    stop = value.get("stopReason")
    ending = f" ({stop})" if stop not in (None, "stop", "toolUse", "pending") else ""
    return f"{value['role']} {_content(value.get('content'))}{ending}".strip()


def provider_event(value: Object) -> str:
    """A stream event of the model."""
    kind = str(value.get("type"))
    for field in ("delta", "content"):
        if field in value:
            return f"{kind} {quoted(value[field], 60)}"
    if isinstance(value.get("toolCall"), dict):
        return f"{kind} {_block(value['toolCall'])}"
    return kind


def _content(content: Any) -> str:
    if isinstance(content, list):
        return ", ".join(_block(block) for block in content)
    return "" if content is None else quoted(content, 60)


def _block(block: Any) -> str:
    match block:
        case {"type": "text", "text": text}:
            return quoted(text, 60)
        case {"type": "thinking"}:
            return "thinking"
        case {"type": "toolCall", "id": called, "name": name}:
            return f"call {called} of {name}"
        case {"type": kind}:
            return str(kind)
        case _:
            return quoted(block, 60)


def _creation(command: Object) -> str:
    tools = [tool["name"] for tool in command.get("tools", ())]
    parts = [
        ("tools", tools),
        ("hooks", command.get("hooks", ())),
        ("listeners", command.get("listeners", ())),
    ]
    words = [f"the {command['target']} alone"] if command.get("target", "agent") != "agent" else []
    words += [f"{what} {', '.join(names)}" for what, names in parts if names]
    words += [f"{key} {quoted(value)}" for key, value in command.get("options", {}).items()]
    return "; ".join(words)


def _input(given: Any) -> str:
    if isinstance(given, list):
        return ", ".join(map(message, given)) or "(no messages)"
    return message(given)


def _given(command: Object) -> str:
    if "throw" in command:
        return f" throws {quoted(command['throw'])}"
    return f": {quoted(command['value'])}" if command.get("value") is not None else ""


def _callback(asked: Object) -> str:
    return address({key: value for key, value in asked.items() if key != "nth"})


def _arguments(fn: str, args: Object) -> str:
    match fn:
        case "streamFn":
            model = args.get("model")
            name = model.get("id") if isinstance(model, dict) else model
            context = args.get("context")
            messages = context.get("messages") if isinstance(context, dict) else None
            return f"{quoted(name)} with {_count(messages, 'message')}"
        case "execute" | "beforeToolCall":
            return quoted(args.get("args"))
        case "afterToolCall":
            failed = "error " if args.get("isError") is True else ""
            return f"{failed}{quoted(args.get('result'), 60)}"
        case "transformContext" | "convertToLlm":
            return _count(args.get("messages"), "message")
        case "getApiKey":
            return quoted(args.get("provider"))
        case _:
            return message(args["message"]) if "message" in args else ""


def _raised(line: Object) -> str:
    return " (signal raised)" if line.get("aborted") is True else ""


def _count(items: Any, what: str) -> str:
    return count(len(items) if isinstance(items, list) else 0, what)


def count(number: int, what: str) -> str:
    """A number of things, which have an s from two on."""
    return f"{number} {what}{'' if number == 1 else 's'}"
