"""How fast logs are judged, and in how much memory: `pi-trio check` on logs of many runs.

    python benchmarks/check.py [--quick] [--sizes 10 1000]

Makes each log anew, the same whenever it is made, and judges it in a process of its own. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.measuring import CannotRunError, answers

MEGABYTE: Final = 1_000_000
SIZES: Final = (10, 1000)
"""Megabytes of the logs."""

QUICK: Final = (1, 3)

HEAD: Final = (
    "updates", "MB", "runs", "events", "seconds", "of the processor", "events/s", "MB/s", "peak MB",
)  # fmt: skip

_WORDS: Final = (
    "a", "and", "every", "far", "fig", "found", "goes", "has", "it", "of", "on", "pear", "run", "said", "so", "the",
    "then", "tool", "turn", "until", "waits", "what",
)  # fmt: skip
_USAGE: Final = {
    "input": 1200, "output": 80, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1280,
    "cost": {"input": 0.0036, "output": 0.0012, "cacheRead": 0, "cacheWrite": 0, "total": 0.0048},
}  # fmt: skip
_MEASURE: Final = """
import io, json, resource, sys, time
from contextlib import redirect_stdout
import pi_trio.cli.check
from pi_trio.cli import main

log, report = sys.argv[1:]
wall, cpu, said = time.perf_counter(), time.process_time(), io.StringIO()
with redirect_stdout(said):
    code = main(["check", "--complete", "--json", report, log])
print(json.dumps({
    "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "code": code, "said": said.getvalue(),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


class Maker:
    """Makes runs as an implementation of release 1.6.0 would say them: all that is random comes from one seed.

    Args:
        whole: updates have the message so far, twice, as the protocol has it; else only what is new, as Pi's JSON mode
            prints them.
    """

    def __init__(self, *, whole: bool) -> None:
        self._random = random.Random(6)
        self._whole = whole

    def run(self) -> Iterator[dict[str, Any]]:
        """One run of one to four turns."""
        messages = [{"role": "user", "content": self._text(30), "timestamp": 0}]
        yield {"type": "agent_start"}
        turns = self._random.randint(1, 4)
        for turn in range(turns):
            yield {"type": "turn_start"}
            if not turn:
                yield from self._whole_message(messages[0])
            answer = yield from self._answer(self._random.randint(1, 3) if turn + 1 < turns else 0)
            results = yield from self._batch(answer)
            messages += [answer, *results]
            yield {"type": "turn_end", "message": answer, "toolResults": results}
        yield {"type": "agent_end", "messages": messages}

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=words))

    def _whole_message(self, message: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "message_start", "message": message}
        yield {"type": "message_end", "message": message}

    def _answer(self, calls: int) -> Generator[dict[str, Any], None, dict[str, Any]]:
        answer = {
            "role": "assistant", "content": [], "api": "script", "provider": "acme", "model": "m1", "usage": _USAGE,
            "stopReason": "pending", "timestamp": 0, "thinkingLevel": "off",
        }  # fmt: skip
        yield {"type": "message_start", "message": answer}
        text = ""
        for _ in range(self._random.randint(10, 60)):
            delta = self._text(2) + " "
            text += delta
            answer = {**answer, "content": [{"type": "text", "text": text}]}
            yield self._update(answer, {"type": "text_delta", "contentIndex": 0, "delta": delta})
        blocks = [
            {"type": "toolCall", "id": f"call_{self._random.getrandbits(64):x}", "name": "read",
             "arguments": {"path": f"src/{self._text(1)}.py", "offset": self._random.randint(1, 900)}}
            for _ in range(calls)
        ]  # fmt: skip
        answer = {
            **answer,
            "content": [{"type": "text", "text": text}, *blocks],
            "stopReason": "toolUse" if calls else "stop",
        }
        yield {"type": "message_end", "message": answer}
        return answer

    def _update(self, answer: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
        if self._whole:
            return {
                "type": "message_update",
                "message": answer,
                "assistantMessageEvent": {**told, "partial": answer},
            }
        return {"type": "message_update", "usage": _USAGE, "assistantMessageEvent": told}

    def _batch(self, answer: dict[str, Any]) -> Generator[dict[str, Any], None, list[dict[str, Any]]]:
        """Calls in parallel, which end in reverse."""
        calls = [
            {"toolCallId": block["id"], "toolName": block["name"], "args": block["arguments"]}
            for block in answer["content"]
            if block["type"] == "toolCall"
        ]
        for call in calls:
            yield {"type": "tool_execution_start", **call}
        for call in calls:
            partial = {"content": [{"type": "text", "text": self._text(8)}], "details": {}}
            yield {"type": "tool_execution_update", **call, "partialResult": partial}
        results: list[dict[str, Any]] = []
        for call in reversed(calls):
            name = {"toolCallId": call["toolCallId"], "toolName": call["toolName"]}
            found = {"content": [{"type": "text", "text": self._text(200)}], "details": {}}
            yield {"type": "tool_execution_end", **name, "result": found, "isError": False, "durationMs": 7}
            results.insert(
                0, {"role": "toolResult", **name, **found, "isError": False, "durationMs": 7, "timestamp": 0}
            )
        for result in results:
            yield from self._whole_message(result)
        return results


def make_log(path: Path, size: int, *, whole: bool) -> None:
    """Write a log of whole runs, as large as `size` bytes or a little larger."""
    maker, encode = Maker(whole=whole), json.JSONEncoder(separators=(",", ":")).encode
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            file.writelines(f"{encode(event)}\n" for event in maker.run())


def measure(path: Path) -> dict[str, Any]:
    """Judge a log in a process of its own.

    Raises:
        CannotRunError: something was wrong with the log, which cannot be.
    """
    report = path.with_suffix(".json")
    (told,) = answers([sys.executable, "-c", _MEASURE, str(path), str(report)])
    found = json.loads(report.read_text(encoding="utf-8"))
    if told["code"] or found["logs"][0]["fits"][0]["profiles"] != ["pi-1.6.0"]:
        raise CannotRunError(told["said"])
    return {**told, "runs": found["runs"], "events": found["events"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(prog="check.py", description="How fast logs are judged.")
    parser.add_argument("--quick", action="store_true", help=f"logs of {QUICK[0]} and {QUICK[1]} MB")
    parser.add_argument("--sizes", metavar="MB", type=int, nargs="+", help="sizes of the logs, in megabytes")
    options = parser.parse_args(arguments)
    sizes = options.sizes or (QUICK if options.quick else SIZES)
    print(f"Python {platform.python_version()}\n\n**Logs**\n")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for whole in (False, True):
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "log.jsonl"
                print(f"... a log of {size} MB", file=sys.stderr, flush=True)
                make_log(log, size * MEGABYTE, whole=whole)
                told = measure(log)
            cpu = told["cpu"]
            cells = (
                "whole" if whole else "as Pi prints them", f"{size:,}", f"{told['runs']:,}", f"{told['events']:,}",
                f"{told['seconds']:.1f}", f"{cpu:.1f}", f"{told['events'] / cpu:,.0f}", f"{size / cpu:.0f}",
                f"{told['peak'] / MEGABYTE:.0f}",
            )  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
