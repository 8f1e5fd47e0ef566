"""`pi-trio run`: asks a model, and shows its answer as it comes, with the tools that it calls."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Final, TextIO

import trio

from pi_trio.agent.agent import Agent
from pi_trio.agent.result import RunResult
from pi_trio.messages import AssistantMessage
from pi_trio.models.dialect import DIALECT_1_6_0
from pi_trio.tools.tool import Tool

from .advice import advice
from .apis import api_of, posted_to
from .chosen_model import SCRIPTED, Chosen, choose, place_arguments
from .run_view import JsonView, TextView, View, visible
from .stopping import INTERRUPTED, stopping
from .usage import UsageError, quiet_log, verbose_argument

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2

TOOLS: Final = ("read", "write", "edit", "bash")

_LONGEST: Final = 600
"""Characters of what went wrong that are shown."""

_MORE: Final = """\
The answer goes to standard output as it comes; thinking, calls and their progress go to
standard error. Without PROMPT the prompt is read from standard input, unless that is a
terminal; with - it is read from there as well.

Providers are anthropic, openai, openai-codex, groq, openrouter and ollama; --list has
their models, and says which have a key.

Tools work in the present folder, with all that you may do there: `bash` runs what the
model says. Keys are taken from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …).
The scripted model needs none, and knows nothing: it shows how a run goes.

Ctrl-C aborts the run, and keeps what has come; a second one ends at once.

examples:
  pi-trio run "How does a run go?"
  pi-trio run --tools read,bash "What is in this folder?"
  pi-trio run --model anthropic/claude-sonnet-4-5 --thinking high "Is 2027 a prime?"
  pi-trio run --model ollama/llama3.2 --base-url http://localhost:11434/v1 "Hello"
  pi-trio run --proxy http://127.0.0.1:8017 --model openai/gpt-5.4 "Hello"
  git diff | pi-trio run --system "Review this change." --model openai/gpt-5.4
  pi-trio run --json "Hello" | pi-trio check -         (check takes the extra `conformance`)

exit codes:
  0    the model has answered
  1    it has not: what went wrong is the last line on standard error; so it is where a
       real model is asked without the extra `models`
  2    wrong usage, an unknown model, no key, a prompt that cannot be read
  130  interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help="what to ask; - reads standard input")
    parser.add_argument("--model", metavar="PROVIDER/ID", default=SCRIPTED, help="default: %(default)s")
    parser.add_argument(
        "--list", action="store_true", help="list the models that there are, and which have a key; ask none"
    )
    place_arguments(parser)
    parser.add_argument(
        "--tools", metavar="NAME,…", default="", help=f"what the model may call: {', '.join(TOOLS)}"
    )
    parser.add_argument("--system", metavar="TEXT", default="", help="the system prompt")
    parser.add_argument(
        "--thinking",
        metavar="LEVEL",
        default="off",
        choices=DIALECT_1_6_0.thinking_levels,
        help="how hard to think: %(choices)s",
    )
    parser.add_argument(
        "--json", action="store_true", help="print events as JSON lines, as Pi's JSON mode does"
    )
    verbose_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, show, and return the exit code."""
    try:
        if options.tools or options.json:
            _check_folder()
        with quiet_log(verbose=options.verbose):
            if options.list:
                return _list()
            return trio.run(_run, options, _prompt(options.prompt))
    except UsageError as error:
        return _complain(str(error), USAGE)


def _list() -> int:
    from .known_models import known_models

    print("\n".join(trio.run(known_models)))
    return DONE


async def _run(options: argparse.Namespace, prompt: str) -> int:
    names = _tool_names(options.tools)
    chosen = await choose(options.model, base_url=options.base_url, proxy=options.proxy, tools=names)
    if options.thinking != "off" and (level := chosen.thinks_at(options.thinking)) != options.thinking:
        instead = "it does not think" if level == "off" else f"it thinks at {level}"
        print(f"pi-trio: {chosen.name} has no --thinking {options.thinking}: {instead}", file=sys.stderr)
    agent = Agent(
        model=chosen.model,
        stream_fn=chosen.ask,
        tools=_tools(names),
        system_prompt=options.system,
        thinking_level=options.thinking,
    )
    # A shell can have closed either of them.
    out, err = sys.stdout or io.StringIO(), sys.stderr or io.StringIO()
    view: View = JsonView(out) if options.json else TextView(out, err)
    with stopping(agent.abort, at_once=_killing(names)) as stop:
        async with agent.open_prompt(prompt) as opened:
            async for event in opened:
                view.show(event)
        view.end()
    if stop.heard:
        return INTERRUPTED
    return _outcome(chosen, opened.result)


def _outcome(chosen: Chosen, result: RunResult) -> int:
    if result.stop_reason in ("error", "aborted"):
        said = " ".join((result.error_message or "the run has failed").split())
        text = said if len(said) <= _LONGEST else f"{said[:_LONGEST]} …"
        last = result.messages[-1] if result.messages else None
        todo = advice(
            said,
            url=chosen.model.base_url,
            posted=posted_to(chosen.model),
            keys=chosen.keys,
            api=api_of(chosen.model),
            begun=isinstance(last, AssistantMessage) and bool(last.content),
        )
        return _complain(f"{chosen.name}: {text}{todo}", FAILED)
    if result.stop_reason == "length":
        print("pi-trio: the answer is cut off: it has as many tokens as it may have", file=sys.stderr)
    return DONE


_NO_PROMPT: Final = "say what to ask, as by pi-trio run 'What is new?', or on standard input"

# --- what is asked ----------------------------------------------------------------------------------------


def _prompt(given: str | None) -> str:
    """Raises: UsageError: there is none, or it is no text."""
    stdin: TextIO | None = sys.stdin
    if given in (None, "-"):
        if stdin is None or (given is None and stdin.isatty()):
            raise UsageError(_NO_PROMPT)
        try:
            given = stdin.buffer.read().decode().removesuffix("\n")  # which ends the line, and is not asked
        except UnicodeDecodeError as error:
            raise UsageError(f"the prompt on standard input is no UTF-8: byte {error.start} is not") from None
        except OSError as error:
            raise UsageError(f"standard input cannot be read: {error.strerror}") from None
    assert given is not None
    try:
        given.encode()
    except UnicodeEncodeError:
        raise UsageError("the prompt is no UTF-8") from None
    if not given.strip():
        raise UsageError(f"the prompt is empty; {_NO_PROMPT}")
    return given


def _check_folder() -> None:
    """Raises: UsageError: the folder in which one is was removed."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the present folder cannot be used: {error.strerror}") from None


def _tool_names(given: str) -> tuple[str, ...]:
    """Raises: UsageError: there is no such tool."""
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    for name in names:
        if name not in TOOLS:
            near = get_close_matches(name, TOOLS)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(TOOLS)}"
            raise UsageError(f"there is no tool {name!r}; {hint}")
    return names


def _tools(names: tuple[str, ...]) -> list[Tool]:
    if not names:
        return []
    from pi_trio.builtin import builtin_tools

    known = {tool.name: tool for tool in builtin_tools()}
    return [known[name] for name in names]


def _killing(names: tuple[str, ...]) -> Callable[[], object]:
    """What kills that which tools have started."""
    if not names:
        return lambda: None
    from pi_trio.builtin.process import kill_groups

    return kill_groups


# --- what went wrong --------------------------------------------------------------------------------------


def _complain(message: str, code: int) -> int:
    print(f"pi-trio: {visible(message)}", file=sys.stderr)
    return code
