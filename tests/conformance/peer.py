"""A subject for tests: a program that plays a part written as JSON, fault for fault.

`peer.py PLAY.json` says its `hello` (or what the play has instead) and then, for the nth command since `create`, does
what stands nth in the play's `acts` (`create` itself is the 0th). Each act is a list of deeds:

    {"say": MESSAGE}      a message as a line; "$id" in it is the id of the command
    {"raw": TEXT}         that text as it is
    {"stderr": TEXT}      that text on stderr
    {"times": N, "say": MESSAGE}   the same many times over
    {"every": SECONDS, "say": MESSAGE}   the same again and again, from now on, whatever else is done
    {"spawn": FILE}       start a process, in a session of its own, that holds the pipes; its id goes into the file
    {"exit": CODE}        end
    {"kill": true}        end by SIGKILL
    {"deaf": true}        read and say nothing any more, but live

An act may also be an object of such lists: then the one under the prompt's `input` is done or, if the play has `by`
"session", the one under the `sessionId` that `create` named.

A command without an act of its own is replied to with ok null; an act without a reply gets none. Where `once` names a
file, the play's acts are those of the first process only, which makes the file; the others do what stands in `then`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time


def say(text: str) -> None:
    os.write(1, text.encode())


def repeat(message: dict, seconds: float) -> None:
    while True:
        say(json.dumps(message) + "\n")
        time.sleep(seconds)


def do(deed: dict, command_id: object) -> None:
    if "every" in deed:
        threading.Thread(target=repeat, args=(deed["say"], deed["every"]), daemon=True).start()
    elif "say" in deed:
        line = json.dumps(deed["say"]).replace('"$id"', json.dumps(command_id)) + "\n"
        for _ in range(deed.get("times", 1)):
            say(line)
    if "raw" in deed:
        os.write(1, deed["raw"].encode("latin-1"))
    if "stderr" in deed:
        os.write(2, deed["stderr"].encode())
    if "spawn" in deed:
        process = subprocess.Popen(["sleep", "600"], start_new_session=True)
        with open(deed["spawn"], "w") as file:
            file.write(str(process.pid))
    if "exit" in deed:
        os._exit(deed["exit"])
    if "kill" in deed:
        os.kill(os.getpid(), signal.SIGKILL)
    if "deaf" in deed:
        while True:
            time.sleep(60)


def main() -> None:
    with open(sys.argv[1]) as file:
        play = json.load(file)
    acts = play.get("acts", [])
    if "once" in play:
        if os.path.exists(play["once"]):
            acts = play.get("then", [])
        open(play["once"], "w").close()
    for deed in play.get("opening", [{"say": play["hello"]}]):
        do(deed, None)
    turn, session = 0, None
    for line in sys.stdin:
        command = json.loads(line)
        turn = 0 if command["cmd"] == "create" else turn + 1
        act = acts[turn] if turn < len(acts) else None
        if command["cmd"] == "create":
            session = command.get("options", {}).get("sessionId")
        if isinstance(act, dict):
            act = act[session if play.get("by") == "session" else command["input"]]
        if act is not None:
            for deed in act:
                do(deed, command["id"])
        else:
            do({"say": {"re": "$id", "ok": None}}, command["id"])


main()
