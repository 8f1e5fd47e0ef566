"""What is said is handed on as it is: text of any characters and length, numbers of any size, whatever holds them.

The other scenarios speak in short words of ASCII, so that they can be read. A host that loses an accent, or cuts a
number to 32 bits, would look right in all of them.
"""

from __future__ import annotations

from typing import Any, Final

from pi_trio.conformance.scripting import (
    DONE,
    T1,
    assistant,
    call,
    finish,
    follow_up,
    parameters,
    prompt,
    response,
    result,
    scenario,
    state,
    steer,
    text,
    thinking,
    tool,
    topic,
    update,
    user,
)

_TEXT: Final = (
    'd\u00e9j\u00e0 vu, \u03a9 \u6f22\u5b57 \U0001f600 \U0001f469\u200d\U0001f680, "so" \\ '
    "so:\ta\r\nb\u2028c\u0000\u007fd </script> %s {0}"
)
"""Of one to four bytes a character, of one and of several characters a sign, and all that JSON has to escape."""

_LONG: Final = "All work and no play. " * 64
"""Longer than what a buffer or a column is often made for."""

_NUMBERS: Final[list[Any]] = [
    0,
    -1,
    2147483648,
    4294967296,
    9007199254740991,
    -9007199254740991,
    0.1,
    1e-7,
    1e21,
    1.5e300,
]
"""Beyond 16, 32 and 53 bits, and those that JavaScript prints with an exponent."""

_VALUE: Final[Any] = {
    "": _NUMBERS, _TEXT: None, "nested": [[[{"deep": [True, False, None, {}, []]}]]], "10": "a", "9": "b",
}  # fmt: skip
"""An object with keys of any kind. (JavaScript puts those that are numbers first.)"""

_ANY: Final = tool("a", parameters(s="string", n="array", o="object"), description=_TEXT)


SCENARIOS = topic(
    "values",
    scenario(
        "text_of_any_characters",
        "Accents, emoji, control characters and what JSON escapes go from the prompt to the answer unchanged.",
        state={"systemPrompt": _TEXT},
        responses=[response(thinking(_TEXT), (_TEXT, " and ", _TEXT)), DONE],
        steps=[prompt(_TEXT), prompt([user([text(_TEXT), text("")])]), state()],
    ),
    scenario(
        "text_of_any_length",
        "A long text goes from the prompt to the request, and from the model to the transcript, whole.",
        responses=[response((_LONG, _LONG))],
        steps=[prompt(_LONG)],
    ),
    scenario(
        "arguments_of_any_value",
        "Numbers beyond 32 bits, nested values and keys of any characters reach the tool as the model gave them.",
        tools=[_ANY],
        responses=[response(call("t1", "a", {"s": _TEXT, "n": _NUMBERS, "o": _VALUE})), DONE],
        steps=[prompt("go"), finish("t1", result(_TEXT))],
    ),
    scenario(
        "results_of_any_value",
        "What a tool reports and returns is told and sent as it is: its text, and details of any value.",
        tools=[_ANY],
        responses=[response(T1), DONE],
        steps=[
            prompt("go"),
            update("t1", result([text(_TEXT), text(_LONG)], details=_VALUE)),
            finish("t1", result([text(_TEXT), text("")], details=_VALUE)),
        ],
    ),
    scenario(
        "queued_text_of_any_characters",
        "Messages that are queued are said as they are.",
        state={"messages": [user(_TEXT), assistant(_TEXT)]},
        responses=[response(_TEXT), DONE, DONE],
        steps=[steer(_TEXT), follow_up(user([text(_TEXT)])), prompt("go")],
    ),
)
