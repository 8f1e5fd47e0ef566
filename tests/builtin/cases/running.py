"""Calls of `bash`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .case import Case, in_all

_COMMANDS: Final[Mapping[str, str]] = {
    "echo": "echo hello",
    "nothing": "true",
    "no_newline": "printf hello",
    "only_newline": "echo",
    "two_lines": "echo one; echo two",
    "stderr": "echo oops >&2",
    "exit_3": "echo before; exit 3",
    "exit_255": "exit 255",
    "exit_silent": "exit 1",
    "false_in_between": "false; echo after",
    "not_found": "no-such-command-anywhere 2>/dev/null",
    "empty": "",
    "blank": "  \n ",
    "multi_line": "for i in 1 2\ndo\necho $i\ndone",
    "pwd": "cd sub && pwd -P | sed 's,.*/,,'",
    "unicode": "printf 'naïve 日本語 😀\\n'",
    "bom": "printf '\\xef\\xbb\\xbftext\\n'",
    "only_bom": "printf '\\xef\\xbb\\xbf'",
    "malformed": "printf 'a\\xff\\xc3b\\n\\xe2\\x82x\\xed\\xa0\\x80\\n'",
    "nul": "printf 'a\\0b\\n'",
    "ansi": "printf '\\033[31mred\\033[0m\\n'",
    "crlf": "printf 'a\\r\\nb\\rc\\n'",
    "stdin": "cat; echo end",
    "session": "read _ _ _ _ group session _ </proc/$$/stat; echo $((group == $$)) $((session == $$))",
    "killed": "kill -9 $$",
    "terminated": "echo before; kill -TERM $$",
    "aborted": "kill -ABRT $$",
    "trapped": "trap 'echo trapped; exit 5' TERM; kill -TERM $$",
    "lines_2000": "seq 2000",
    "lines_2000_open": "seq 1999; printf last",
    "lines_2001": "seq 2001",
    "lines_2001_open": "seq 2000; printf last",
    "lines_5000": "seq 5000",
    "lines_failing": "seq 3000; exit 2",
    "bytes_51200": "head -c 51199 /dev/zero | tr '\\0' x; echo",
    "bytes_51201": "head -c 51200 /dev/zero | tr '\\0' x; echo",
    "bytes_51201_open": "head -c 51201 /dev/zero | tr '\\0' x",
    "one_long_line": "head -c 60000 /dev/zero | tr '\\0' x",
    "one_longer_line": "head -c 3000000 /dev/zero | tr '\\0' x",
    "wide_long_line": "for i in $(seq 3000); do printf '日本語日本語日本語'; done",
    "long_then_short": "head -c 60000 /dev/zero | tr '\\0' x; echo; echo end",
    "many_bytes": "for i in $(seq 900); do printf '%060d %d\\n' 0 $i; done",
    "binary": "head -c 70000 /dev/zero | tr '\\0' '\\377'",
    "megabytes": "seq 300000",
    "megabyte_exactly": "head -c 1048576 /dev/zero | tr '\\0' y",
    "megabyte_and_one": "head -c 1048577 /dev/zero | tr '\\0' y",
    "background_silent": "sleep 30 & echo now",
    "background_deaf": "sleep 30 >/dev/null 2>&1 & echo now",
    "closed_output": "exec >&- 2>&-; sleep 0.2; exit 4",
    "hidden_session": "echo $PI_SESSION_ID$PI_MODEL.",
}  # fmt: skip


def runs() -> Iterator[Case]:
    """Calls of `bash`."""
    for name, command in _COMMANDS.items():
        yield _run(name, {"command": command}, {"sub": None})
    yield _run("long_line_and_newline", {"command": "head -c 90000 /dev/zero | tr '\\0' x; echo"})
    yield _run(
        "clipped_line",
        {"command": "head -c 400000 /dev/zero | tr '\\0' x; echo"},
        otherwise=dict.fromkeys(("0.85.0", "1.0.3"), "B-08"),
    )
    for index, timeout in enumerate((0, -1, 2147483.648, 1e300)):
        yield _run(f"bad_timeout_{index}", {"command": "echo hello", "timeout": timeout})
    for index, timeout in enumerate((5, 0.2, 1e6)):
        yield _run(
            f"timeout_{index}", {"command": "echo hello" if index != 1 else "sleep 9", "timeout": timeout}
        )
    for name, command in (
        ("said", "echo before; sleep 9"),
        ("deaf", "trap '' TERM INT; echo before; sleep 9"),
        ("long", "seq 3000; sleep 9"),
        ("child", "(echo child; sleep 9)"),
    ):
        yield _run(
            f"abort_{name}", {"command": command}, abort_at="child" if name == "child" else _last(command)
        )
    yield _run("timeout_said", {"command": "echo before; sleep 9", "timeout": 1.5})
    yield _run("aborted_before", {"command": "echo hello"}, abort_at="")
    yield _run("no_folder", {"command": "echo hello"}, cwd="nothing")
    yield _run("folder_is_file", {"command": "echo hello"}, {"f": b""}, cwd="f")
    yield _run("too_long", {"command": f"echo {'x' * 200000}"})
    yield _run("nul_in_command", {"command": "echo \0"}, otherwise=in_all("B-06"))
    yield _run("lone_surrogate", {"command": "echo '\ud83d'"})


def _last(command: str) -> str:
    return "3000" if "seq" in command else "before"


def _run(name: str, args: Mapping[str, Any], files: Mapping[str, Any] | None = None, **more: Any) -> Case:
    return Case(name=f"bash_{name}", tool="bash", args=args, files=files or {}, **more)
