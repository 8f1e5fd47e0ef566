"""`bash`: a command of the shell, and what it says."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping
from typing import Any, Final

import trio

from ..abort import AbortSignal
from ..jsonvalue import ABSENT, JSON, Absent
from ..messages import TextContent, ToolResult
from ..tools.js_number import as_double, text_of
from ..tools.js_value import well_formed
from ..tools.tool import Tool, UpdateFn
from .declaring import declare, schema_of
from .dialect import TOOLS_1_6_0, ToolDialect, tool_dialect_of
from .failure import BuiltinToolError
from .output import Output
from .process import Ended, run_command
from .truncation import MAX_BYTES, MAX_LINES, Truncation, size_text

#: How often progress is reported at most, in seconds.
UPDATE_INTERVAL: Final = 0.1
#: Milliseconds that a timer of JavaScript can count.
_MOST_MS: Final = 2**31 - 1
#: So much of the output programs get.
_STRUCTURED_BYTES: Final = 1024 * 1024
#: What Pi tells the commands of a session, and what a session around this program may have told it.
_PI_VARIABLES: Final = ("PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL")

_DESCRIPTION: Final = (
    "Run a command with bash, in the working directory. You get what it writes to standard output and standard error: "
    f"the last {MAX_LINES} lines or {MAX_BYTES // 1024} KB of it, and where it was more, the path of a file that "
    "holds all of it. Processes that it leaves in the background end with the call."
)
_KEPT_DESCRIPTION: Final = _DESCRIPTION.rpartition(" Processes")[0]
_PARAMETERS: Final = schema_of(
    command=("string", "The command"),
    timeout=("number", "Seconds after which the command is killed. Without it, there is no limit", False),
)
_OUTPUT: Final[JSON] = {
    "type": "object",
    "required": ["output", "truncated", "exit_code", "wall_time_seconds"],
    "properties": {
        "output": {
            "type": "string",
            "description": "What the command has written, or its beginning and its end",
        },
        "truncated": {"type": "boolean"},
        "full_output_path": {
            "type": "string",
            "description": "Where it was truncated: the file that holds all",
        },
        "exit_code": {"type": "number"},
        "wall_time_seconds": {"type": "number"},
    },
}


def bash_tool(
    cwd: str | os.PathLike[str] = ".",
    *,
    shell: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    prefix: str = "",
    keep_background: bool = False,
    dialect: ToolDialect | str = TOOLS_1_6_0,
) -> Tool:
    """A tool that runs commands. Whatever the user of this program may do, they can do.

    Progress is reported as in Pi: an empty report first, then the end of the output, ten times a second at most. An
    abort, a timeout or a cancellation kills the command with all that it has started (`process`); after the first two,
    the result holds what was said until then.

    Args:
        cwd: commands run here. A relative one is resolved now.
        shell: the shell; by default /bin/bash, else the first bash on PATH, else sh.
        env: the environment of the commands; by default this program's, without what Pi says of its session there.
        prefix: put before each command, on a line of its own.
        keep_background: leave alone what a command has started in the background, as Pi does.
        dialect: the release to follow, or its name.

    Raises:
        UnknownToolDialectError: there is no such release.
    """
    folder, release = os.path.abspath(cwd), tool_dialect_of(dialect)

    async def execute(_call: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> ToolResult:
        on_update(ToolResult(content=()))
        text = f"{prefix}\n{args['command']}" if prefix else args["command"]
        call = _Call(on_update, release, args.get("timeout"))
        seconds = _seconds(args.get("timeout"))
        if signal.aborted:
            raise BuiltinToolError("Command aborted")
        command = await trio.to_thread.run_sync(_command, text, folder, shell)
        try:
            with signal.scope():
                ended = await run_command(
                    command,
                    cwd=folder,
                    env=_environment() if env is None else env,
                    seconds=seconds,
                    hear=call.output.add,
                    pending=call.report_if_due,
                    keep_background=keep_background,
                )
                await call.output.finish()
                call.report()
                if ended.ended_by != "cancellation":
                    return await call.result(ended)
                if not signal.aborted:
                    await trio.lowlevel.checkpoint_if_cancelled()
            raise BuiltinToolError(call.told("Command aborted"))
        finally:
            call.output.close()

    return declare(
        "bash",
        _KEPT_DESCRIPTION if keep_background else _DESCRIPTION,
        _PARAMETERS,
        execute,
        dialect=release,
        output_schema=_OUTPUT if release.failed_command == "result" else None,
    )


class _Call:
    """One call: its output, and what is reported of it."""

    def __init__(self, on_update: UpdateFn, dialect: ToolDialect, timeout: Any) -> None:
        self.output: Final = Output()
        self._on_update = on_update
        self._dialect = dialect
        self._timeout = timeout
        self._begun = trio.current_time()
        self._reported_at = -math.inf
        self._reported = 0

    def report_if_due(self) -> float:
        """Report what is new, unless the last report was a moment ago. Returns when the next one is due."""
        if not self._is_new:
            return math.inf
        due = self._reported_at + UPDATE_INTERVAL
        if trio.current_time() < due:
            return due
        self.report()
        return math.inf

    def report(self) -> None:
        """Report what is new."""
        if not self._is_new:
            return
        self._reported_at = trio.current_time()
        self._reported = self.output.heard
        shown, path = self.output.shown(), self.output.path
        details: dict[str, JSON] = {"truncation": shown.as_details()} if shown.truncated else {}
        if path is not None:
            details["fullOutputPath"] = path
        self._on_update(ToolResult(content=(TextContent(text=shown.content),), details=details))

    @property
    def _is_new(self) -> bool:
        return self.output.heard > self._reported

    def told(self, status: str = "", *, silence: str = "") -> str:
        """What the model is told: the output, what is missing of it, and `status`."""
        shown = self.output.shown()
        text = (shown.content or silence) + self._gap(shown)
        return "\n\n".join(filter(None, (text, status)))

    def _gap(self, shown: Truncation) -> str:
        if not shown.truncated:
            return ""
        last, path = shown.total_lines, self.output.path
        if shown.last_line_partial:
            sizes = size_text(shown.output_bytes), size_text(self.output.last_line_bytes)
            what = f"last {sizes[0]} of line {last} (line is {sizes[1]})"
        else:
            limit = "" if shown.truncated_by == "lines" else f" ({size_text(MAX_BYTES)} limit)"
            what = f"lines {last - shown.output_lines + 1}-{last} of {last}{limit}"
        return f"\n\n[Showing {what}. Full output: {path}]"

    async def result(self, ended: Ended) -> ToolResult:
        """What came of a command that was not aborted.

        Raises:
            BuiltinToolError: it ran into its timeout; or it failed, where the dialect has it so.
        """
        code = ended.returncode
        if code < 0:
            code = 128 - code if self._dialect.signalled == "code" else 0
        if ended.ended_by == "timeout":
            raise BuiltinToolError(self.told(self._timed_out(code, ended.shell_seconds)))
        failed = f"Command exited with code {code}" if code else ""
        text = self.told(failed, silence="(no output)")
        if self._dialect.failed_command == "error" and failed:
            raise BuiltinToolError(text)
        shown = self.output.shown()
        details: JSON | Absent = ABSENT
        if shown.truncated:
            details = {"truncation": shown.as_details(), "fullOutputPath": self.output.path}
        structured = self._dialect.failed_command == "result"
        return ToolResult(
            content=(TextContent(text=text),),
            details=details,
            structured_content=await self._structured(code) if structured else ABSENT,
            is_error=True if failed else ABSENT,
        )

    def _timed_out(self, code: int, shell_seconds: float | None) -> str:
        status = f"Command timed out after {text_of(as_double(self._timeout))} seconds"
        if shell_seconds is None or not self._dialect.timeout_tells_exit:
            return status
        return (
            f"{status}. The shell exited with code {code} after {text_of(_tenths(shell_seconds))} seconds, "
            "but background processes it started kept writing output until the timeout."
        )

    async def _structured(self, code: int) -> JSON:
        text, truncated = await self.output.whole(_STRUCTURED_BYTES)
        where: dict[str, JSON] = {"full_output_path": self.output.path} if truncated else {}
        return {
            "output": text,
            "truncated": truncated,
            **where,
            "exit_code": code,
            "wall_time_seconds": _tenths(trio.current_time() - self._begun),
        }


def _tenths(seconds: float) -> float:
    return as_double(math.floor(seconds * 10 + 0.5) / 10)


def _seconds(timeout: float | None) -> float:
    if timeout is None:
        return math.inf
    if not math.isfinite(timeout) or timeout <= 0:
        raise BuiltinToolError("Invalid timeout: must be a finite number of seconds")
    if timeout * 1000 > _MOST_MS:
        raise BuiltinToolError(f"Invalid timeout: maximum is {_MOST_MS / 1000} seconds")
    return timeout


def _command(text: str, folder: str, shell: str | os.PathLike[str] | None) -> list[str]:
    if "\0" in text:
        raise BuiltinToolError("There is a NUL in the command")
    if shell is not None and not os.path.exists(shell):
        raise BuiltinToolError(f"Custom shell path not found: {os.fspath(shell)}")
    if not os.path.exists(folder):
        raise BuiltinToolError(f"Working directory does not exist: {folder}\nCannot execute bash commands.")
    if shell is None:
        shell = "/bin/bash" if os.path.exists("/bin/bash") else shutil.which("bash") or "sh"
    return [os.fspath(shell), "-c", well_formed(text)]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _PI_VARIABLES}
