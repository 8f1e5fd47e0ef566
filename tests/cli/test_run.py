"""`pi-trio run`: an answer as it comes, what stands in its way, and Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pi_trio.cli import main
from pi_trio.cli.run import _MORE
from pi_trio.models.builtin import builtin_models

from .serving import DONE, HEAD, TOKEN, Server, call, read_until, said, start, text
from .test_main import runs

KNOWN = [f"{model.provider}/{model.id}" for model in builtin_models().get_models()]
CODEX = next(name for name in KNOWN if name.startswith("openai-codex/"))


@pytest.fixture
def run(capfd, monkeypatch):
    """Run the command in this process."""
    monkeypatch.setenv("PI_TRIO_PROXY_TOKEN", TOKEN)
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_AUTH_TOKEN", "_OAUTH_TOKEN"))]:
        monkeypatch.delenv(name)

    def run(*arguments, stdin=None):
        given = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin))
        monkeypatch.setattr(sys, "stdin", given)
        code = main(["run", *arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


# --- an answer --------------------------------------------------------------------------------------------


def test_the_scripted_model_answers_anything(run):
    code, out, err = run("How does a run go?")
    assert (code, err) == (0, "")
    assert "I need no key" in out
    assert "“How does a run go?”" in out
    assert out.endswith("\n")


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_prompt_may_come_from_standard_input(run, arguments):
    code, out, _ = run(*arguments, stdin="Grüße\n".encode())
    assert code == 0
    assert "“Grüße”" in out


def test_the_events_as_json(run):
    code, out, err = run("--json", "--system", "Be brief.", "Hello")
    assert (code, err) == (0, "")
    first, *events = map(json.loads, out.splitlines())
    assert list(first) == ["type", "version", "id", "timestamp", "cwd"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first["id"])
    assert [events[0]["type"], events[-1]["type"]] == ["agent_start", "agent_end"]
    updates = [event for event in events if event["type"] == "message_update"]
    assert all(list(update) == ["type", "usage", "assistantMessageEvent"] for update in updates)
    assert all("partial" not in update["assistantMessageEvent"] for update in updates)
    roles = [message["role"] for message in events[-1]["messages"]]
    assert roles == ["system", "user", "assistant"] or roles == ["user", "assistant"]


def test_the_events_are_those_that_check_reads(run, capfd, monkeypatch):
    _, out, _ = run("--json", "Hello")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(out.encode()))))
    assert main(["check", "-"]) == 0
    assert "conformant" in capfd.readouterr().out


def test_an_answer_through_a_proxy(run):
    with Server(HEAD + text("Hello", " you.") + DONE, None) as server:
        assert run("--proxy", server.url, "--model", "a/b", "--thinking", "high", "Hi") == (
            0,
            "Hello you.\n",
            "",
        )
    asked = json.loads(server.request.partition(b"\r\n\r\n")[2])
    assert (asked["model"]["provider"], asked["model"]["id"]) == ("a", "b")
    assert asked["options"]["reasoning"] == "high"


def test_a_model_that_does_not_think_as_asked(run):
    code, out, err = run("--thinking", "high", "Hi")
    assert (code, out != "") == (0, True)
    assert err == "pi-trio: scripted/scripted-1 has no --thinking high: it does not think\n"


def test_the_scripted_model_shows_what_a_call_is(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("Milk, bread")
    code, out, err = run("--tools", "bash,read", "What is there?")
    assert code == 0
    assert "`read` has said:\nMilk, bread" in out
    assert "`bash` has said:\nHello from " in out
    shown = err.splitlines()
    assert shown[:2] == [
        '→ bash {"command":"echo Hello from $(uname)"}',
        '→ read {"path":"notes.txt","limit":5}',
    ]
    assert "✓ read Milk, bread" in shown


def test_an_answer_that_is_cut_at_the_limit(run):
    with Server(HEAD + text("And so") + DONE.replace(b'"stop"', b'"length"'), None) as server:
        code, out, err = run("--proxy", server.url, "--model", "a/b", "Hi")
    assert (code, out) == (0, "And so\n")
    assert "cut off" in err


EXTRAS = (
    "rich",
    "filelock",
    "platformdirs",
    "h11",
    "httpx",
    "zstandard",
    "trio_websocket",
    "pydantic",
)


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["run", "--tools", "bash", "x"], 0, b"bash Hello from"),
        (
            ["run", "--proxy", "http://127.0.0.1:1", "x"],
            1,
            b"needs httpx: pip install 'pi_trio[models]'",
        ),
        (
            ["serve", "proxy"],
            2,
            b"pi-trio serve needs more than the runtime does: pip install 'pi_trio[models]'",
        ),
    ],
)
def test_without_extras(arguments, code, text):
    """The scripted model needs none; and what needs one says which."""
    script = f"sys.modules.update(dict.fromkeys({EXTRAS})); import pi_trio.cli as c; sys.exit(c.main())"
    process = start(*arguments, script=script)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, text in err) == (code, True)
    assert code == 0 or err.count(b"\n") == 1


# --- what stands in its way -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "stdin", "text"),
    [
        ([], None, "say what to ask"),
        (["-"], None, "say what to ask"),
        ([" "], None, "the prompt is empty; say what to ask"),
        ([], b"\n", "the prompt is empty; say what to ask"),
        ([], b"caf\xe9", "the prompt on standard input is no UTF-8: byte 3 is not"),
        (["caf\udce9"], None, "the prompt is no UTF-8"),
        (["--tools", "raed", "x"], None, "there is no tool 'raed'; did you mean read?"),
        (["--tools", "sql", "x"], None, "there is no tool 'sql'; there are read, write, edit, bash"),
        (["--model", "anthropic/claude-sonet-4-5", "x"], None, "did you mean anthropic/claude-sonnet-4-5"),
        (["--model", "claude-sonnet-4-5", "x"], None, "did you mean anthropic/claude-sonnet-4-5?"),
        (["--model", "openai/zzz", "x"], None, "openai has no model 'zzz'; known are: openai/"),
        (
            ["--model", "nobody/nothing", "x"],
            None,
            "it is named PROVIDER/ID, of one of: scripted, anthropic, ",
        ),
        (["--model", "\x1b[31m/x", "x"], None, "there is no model '\\x1b[31m/x'"),
        (
            ["--model", "groq/zzz", "--base-url", "http://x", "x"],
            None,
            "there is no key for groq: set GROQ_API_KEY",
        ),
        (["--model", "anthropic/claude-sonnet-4-5", "x"], None, "or ANTHROPIC_API_KEY"),
        (["--model", CODEX, "x"], None, "its login cannot be used from here"),
        (["--proxy", "http://127.0.0.1:1", "--model", "x", "x"], None, "there is no model 'x'"),
        (
            ["--base-url", "http://x", "x"],
            None,
            "--base-url needs a model that is asked there: --model ollama/NAME",
        ),
        (
            ["--base-url", "localhost:1/v1", "--model", "ollama/x", "x"],
            None,
            "it begins with http:// or https://",
        ),
        (["--base-url", "http://[", "--model", "ollama/x", "x"], None, "--base-url 'http://[' is no URL"),
        (["--proxy", "127.0.0.1:1", "x"], None, "--proxy '127.0.0.1:1' is no URL"),
    ],
)
def test_what_cannot_be_asked(run, arguments, stdin, text):
    code, out, err = run(*arguments, stdin=stdin)
    assert (code, out) == (2, "")
    assert err.startswith("pi-trio: ")
    assert text in err
    assert err.count("\n") == 1


def test_a_proxy_without_its_token(run, monkeypatch):
    monkeypatch.delenv("PI_TRIO_PROXY_TOKEN")
    code, _, err = run("--proxy", "http://127.0.0.1:1", "x")
    assert (code, "set PI_TRIO_PROXY_TOKEN" in err) == (2, True)


@pytest.mark.parametrize("key", ["\u201csk\u201d", "sk\nk", "sk\x07", "sk\udcff"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("PI_TRIO_PROXY_TOKEN", ["--proxy", "http://127.0.0.1:1"]),
        ("ANTHROPIC_API_KEY", ["--model", "anthropic/claude-sonnet-4-5"]),
        ("OPENAI_API_KEY", ["--model", "openai/gpt-5.4"]),
    ],
)
def test_a_key_that_no_header_can_have(run, monkeypatch, name, arguments, key):
    monkeypatch.setenv(name, key)
    code, _, err = run(*arguments, "x")
    assert (code, err) == (
        2,
        f"pi-trio: {name} cannot be sent: there is a character in it that no header can have\n",
    )


@pytest.mark.parametrize("arguments", [["--tools", "read"], ["--json"]])
def test_a_folder_that_was_removed(run, monkeypatch, tmp_path, arguments):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(*arguments, "x") == (
        2,
        "",
        "pi-trio: the present folder cannot be used: No such file or directory\n",
    )
    assert run("x")[0] == 0


def test_a_connection_that_is_refused(run):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    code, out, err = run("--proxy", url, "x")
    assert (code, out) == (1, "")
    assert re.fullmatch(
        rf"pi-trio: scripted/scripted-1: The proxy cannot be reached: .* \(does a server listen at {url}\?\)\n",
        err,
    )


@pytest.mark.parametrize(
    ("pieces", "kept", "text"),
    [
        (
            [b'HTTP/1.1 401 x\r\n\r\n{"error":"the token is not right"}'],
            "",
            "Proxy error: the token is not right",
        ),
        (
            [b"HTTP/1.1 404 x\r\n\r\n"],
            "",
            "Proxy error: 404 Not Found (does the provider have this model, at http://127.0.0.1:",
        ),
        (
            [b"HTTP/1.1 500 x\r\n\r\n" + b"x" * 9999],
            "",
            "Proxy error: 500 Internal Server Error (try again later)",
        ),
        (
            [HEAD, text("Once upon")],
            "Once upon\n",
            "before the response completed (the answer broke off before its end; try again)",
        ),
        (
            [HEAD.replace(b"connection: close", b"content-length: 9999"), text("Once")],
            "Once\n",
            "was cut off: ",
        ),
        ([HEAD, text("Once"), b"data: {nonsense\n\n"], "Once\n", "has sent what is no event"),
        (
            [HEAD, text("A"), said(type="error", reason="error", errorMessage="x\n\x1b[31my")],
            "A\n",
            ": x \ufffd[31my",
        ),
        ([HEAD, said(type="error", reason="error", errorMessage="z" * 9999)], "", "z …"),
    ],
)
def test_an_answer_that_fails_keeps_what_has_come(run, pieces, kept, text):
    with Server(*pieces, None) as server:
        code, out, err = run("--proxy", server.url, "x")
    assert (code, out) == (1, kept)
    assert text in err
    assert err.count("\n") == 1
    assert len(err) < 1000


# --- a provider -------------------------------------------------------------------------------------------

KEY = "sk-ant-s3cret"
SPOKEN: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 0}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Bonjour"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)
MESSAGES = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in SPOKEN]


@pytest.mark.parametrize(
    ("pieces", "code", "answer", "text"),
    [
        ([HEAD, *MESSAGES], 0, "Bonjour\n", ""),
        ([HEAD, *MESSAGES[:3]], 1, "Bonjour\n", "(the answer broke off before its end; try again)"),
        ([b'HTTP/1.1 401 x\r\n\r\n{"error":"no"}'], 1, "", '401 {"error":"no"} (check ANTHROPIC_'),
        ([b"HTTP/1.1 404 x\r\n\r\n"], 1, "", "(does the provider have this model, at http://127.0.0.1:"),
        ([b"HTTP/1.1 529 x\r\n\r\n"], 1, "", "(try again later)"),
        ([], 1, "", "(does a server listen at http://127.0.0.1:"),
    ],
)
def test_a_provider(run, monkeypatch, pieces, code, answer, text):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Server(*pieces, None) as server:
        found, out, err = run("--model", "anthropic/claude-sonnet-4-5", "--base-url", server.url, "Hello")
    assert KEY.encode() in server.request
    assert (found, out) == (code, answer)
    assert text in err
    assert KEY not in err
    assert "--thinking" not in err
    assert err.count("\n") == (code != 0)


@pytest.mark.parametrize(
    ("where", "api"),
    [
        (("--model", "ollama/x", "--base-url"), "OpenAI's Chat Completions"),
        (("--model", "openai/x", "--base-url"), "OpenAI's Responses"),
        (("--model", "anthropic/x", "--base-url"), "Anthropic's Messages"),
        (("--proxy",), "Pi's proxy protocol"),
    ],
)
def test_a_server_that_speaks_something_else(run, monkeypatch, where, api):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server(HEAD.replace(b"event-stream", b"html"), b"<html>It works!</html>", None) as server:
        url = server.url
        code, out, err = run(*where, f"{url}/v1", "Hello")
    path = server.request.split()[1].decode().partition("?")[0]
    assert (code, out) == (1, "")
    assert f"(nothing has come that is of {api}: is {url}{path} where that is spoken?)" in err


def test_a_server_of_ones_own(run):
    """It needs no key, and has models that nobody else knows."""
    told = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi there"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    answer = "".join(f"data: {json.dumps(each)}\n\n" for each in told) + "data: [DONE]\n\n"
    with Server(HEAD, answer.encode(), None) as server:
        assert run("--model", "ollama/mine", "--base-url", f"{server.url}/v1", "Hello") == (
            0,
            "Hi there\n",
            "",
        )
    assert server.request.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert b'"model":"mine"' in server.request


def test_the_models_that_there_are(run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    code, out, err = run("--list")
    assert (code, err) == (0, "")
    told = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert list(told) == ["scripted/scripted-1", *KNOWN]
    said = {name.partition("/")[0]: key for name, key in told.items()}
    assert said == {
        "scripted": "needs no key",
        "anthropic": "no key: set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_OAUTH_TOKEN or ANTHROPIC_API_KEY",
        "openai": "key: OPENAI_API_KEY",
        "openai-codex": "no key: its login cannot be used from here",
        "groq": "no key: set GROQ_API_KEY",
        "openrouter": "no key: set OPENROUTER_API_KEY",
        "ollama": "needs no key",
    }
    assert all(provider in _MORE for provider in said)


def test_the_examples_name_models_that_there_are():
    named = set(re.findall(r"(?:anthropic|openai)/[\w.-]+", _MORE))
    assert named
    assert named <= set(KNOWN)


# --- Ctrl-C and pipes -------------------------------------------------------------------------------------


STOPS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", STOPS)
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_ctrl_c_keeps_what_has_come(number, arguments):
    with Server(HEAD, text("Once upon")) as server:
        process = start("run", *arguments, "--proxy", server.url, "x")
        so_far = read_until(process.stdout, b"Once upon")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, b"interrupted; once more ends at once\n")
        assert server.gone.wait(60)
    if arguments:
        last = json.loads((so_far + out).splitlines()[-1])
        assert last["type"] == "agent_end"
        assert last["messages"][-1]["stopReason"] == "aborted"
        assert last["messages"][-1]["content"][0]["text"] == "Once upon"
    else:
        assert so_far + out == b"Once upon\n"


@pytest.mark.parametrize("number", STOPS)
def test_ctrl_c_ends_what_a_tool_has_started(number):
    with Server(HEAD + call("bash", command="echo pid $$ begun; exec sleep 1000"), None) as server:
        process = start("run", "--tools", "bash", "--proxy", server.url, "x")
        pid = int(read_until(process.stderr, b" begun\n").split()[-2])
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"interrupted; once more ends at once\n\xe2\x9c\x97 bash ")
    assert not runs(pid)


BLOCKED = """
import time
import pi_trio.cli as c, pi_trio.cli.demonstration as d
def block(*_):
    print("blocked", flush=True)
    while True:
        time.sleep(1000)
d.Demonstration.stream = block
sys.exit(c.main())
"""


def test_a_second_ctrl_c_ends_at_once():
    process = start("run", "x", script=BLOCKED)
    read_until(process.stdout, b"blocked\n")
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == b"interrupted; once more ends at once\n"
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert (process.wait(60), process.communicate()) == (130, (b"", b""))


def test_who_has_it_ignored_does_not_hear_that_the_terminal_is_closed():
    script = (
        "import signal, pi_trio.cli as c; signal.signal(signal.SIGHUP, signal.SIG_IGN); sys.exit(c.main())"
    )
    with Server(HEAD, text("Once upon")) as server:
        process = start("run", "--proxy", server.url, "x", script=script)
        so_far = read_until(process.stdout, b"Once upon")
        process.send_signal(signal.SIGHUP)
        server.give(DONE, None)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, so_far + out, err) == (0, b"Once upon\n", b"")


HANGING = """
import time
import pi_trio.cli as c
from pi_trio.cli.run_view import TextView
def hang(view, event, show=TextView.show):
    show(view, event)
    if event.type == "tool_execution_update" and event.partial_result.content:
        print("hanging", flush=True)
        while True:
            time.sleep(1000)
TextView.show = hang
sys.exit(c.main())
"""


def test_a_second_ctrl_c_ends_what_a_tool_has_started():
    with Server(HEAD + call("bash", command="echo pid $$ begun; exec sleep 1000"), None) as server:
        process = start("run", "--tools", "bash", "--proxy", server.url, "x", script=HANGING)
        pid = int(read_until(process.stderr, b" begun\n").split()[-2])
        read_until(process.stdout, b"hanging\n")
        process.send_signal(signal.SIGINT)
        read_until(process.stderr, b"at once\n")
        assert runs(pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        process.communicate()
    for _ in range(600):  # it was killed, and may yet be dying
        if not runs(pid):
            return
        time.sleep(0.1)
    raise AssertionError("it still runs")


@pytest.mark.parametrize("arguments", ["", "--json", "--tools bash"])
def test_who_has_no_output_has_an_exit_code(arguments):
    command = f"exec '{sys.executable}' -m pi_trio.cli run {arguments} x >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_where_nothing_can_be_written_that_is_said(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pi_trio.cli", "run", *arguments, "x"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 4
    assert done.stderr == "pi-trio: what there is to say cannot be written: No space left on device\n"


def test_a_reader_who_has_had_enough_is_not_told_so():
    with Server(HEAD, text("Once upon")) as server:
        process = start("run", "--proxy", server.url, "x")
        read_until(process.stdout, b"Once upon")
        process.stdout.close()
        server.give(said(type="text_delta", contentIndex=0, delta=" a time"))
        assert process.wait(60) == 1
        assert process.stderr.read() == b""
        assert server.gone.wait(60)
        process.stderr.close()
