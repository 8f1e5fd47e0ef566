"""What is said behind a failure."""

from __future__ import annotations

import pytest

from pi_trio.cli.advice import advice


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("401 no", "check A_KEY or B_KEY"),
        ("OpenAI API error (403): no", "check A_KEY or B_KEY"),
        ("Proxy error: 404 Not Found", "does the provider have this model, at http://x?"),
        ("Proxy error: the token is not right", "check A_KEY or B_KEY"),
        ("529 overloaded", "try again later"),
        ("Overloaded", "try again later"),
        ("400 bad", "the provider does not take this request"),
        ("Connection error.", "does a server listen at http://x?"),
        ("The proxy cannot be reached: no", "does a server listen at http://x?"),
        ("Request timed out.", "try again, or look whether http://x is the right address"),
        ("terminated", "the answer broke off before its end; try again"),
        ("Anthropic stream ended before message_stop", "the answer broke off before its end; try again"),
    ],
)
def test_what_can_be_done(said, told):
    assert advice(said, url="http://x", keys=["A_KEY", "B_KEY"]) == f" ({told})"


@pytest.mark.parametrize(
    "said",
    [
        "Stream ended without finish_reason",
        "OpenAI Responses stream ended before a terminal response event",
        "Anthropic stream ended without a stop reason",
        "Connection closed by proxy server before the response completed",
        "The proxy has sent what is no event: expected JSON",
    ],
)
def test_an_answer_that_never_began(said):
    todo = advice(said, url="http://x", posted="http://x/y", keys=(), api="Z", begun=False)
    assert todo == " (nothing has come that is of Z: is http://x/y where that is spoken?)"
    assert todo != advice(said, url="http://x", posted="http://x/y", keys=(), api="Z")


@pytest.mark.parametrize("said", ["", "418 teapot", "40 things", "something else", "it is 401 here"])
def test_nothing_is_said_of_what_is_not_known(said):
    assert advice(said, url="http://x", keys=()) == ""


def test_a_key_without_a_variable():
    assert advice("401", url="", keys=()) == " (check the key)"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:secret@x:1/v1", "http://x:1/v1"),
        ("https://me:se@cret@x", "https://x"),
        ("me:secret@x/v1", "x/v1"),
        ("//secret@x", "//x"),
        ("http://x/a@b?c@d", "http://x/a@b?c@d"),
    ],
)
def test_a_password_is_not_shown(url, shown):
    assert advice("Connection error.", url=url, keys=()) == f" (does a server listen at {shown}?)"
