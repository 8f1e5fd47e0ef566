"""Pure functions of real pi-ai, called with many arguments in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

from pi_trio.conformance.subjects.pi_releases import PiInstall
from pi_trio.jsonvalue import JSON

SCRIPT = Path(__file__).with_name("pure.mjs")

#: An argument that stands for a function which makes ids of tool calls short and plain.
SHORTENED = {"$": "shortened"}


def called(pi: PiInstall, module: str, function: str, calls: Iterable[list[JSON]]) -> list[dict[str, JSON]]:
    """What a function of pi-ai's dist gives for each list of arguments: `{"value": …}` or `{"error": …}`."""
    asked = "".join(
        json.dumps({"module": module, "function": function, "arguments": arguments}) + "\n"
        for arguments in calls
    )
    done = subprocess.run(
        [str(pi.node.path), str(SCRIPT), str(pi.folder)],
        input=asked,
        text=True,
        encoding="utf-8",
        capture_output=True,
        timeout=300,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.split("\n") if line]
