"""Error types, and the paths of a `CodecError`."""

from __future__ import annotations

import pickle

import pytest

from pi_trio.errors import AgentBusyError, CannotContinueError, CodecError, PiTrioError


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (AgentBusyError("a"), RuntimeError),
        (CannotContinueError("b"), RuntimeError),
        (CodecError("", "c"), ValueError),
    ],
)
def test_each_error_is_ours_and_a_builtin(error: Exception, builtin: type[Exception]) -> None:
    assert isinstance(error, PiTrioError)
    assert isinstance(error, builtin)


def test_a_path_grows_from_the_inside() -> None:
    error = CodecError("", "bad").under("text").under(2).under("messages", 0, "content")
    assert error.path == "messages[0].content[2].text"
    assert str(error) == "messages[0].content[2].text: bad"
    assert error.message == "bad"


def test_a_key_that_is_no_name_is_quoted() -> None:
    assert CodecError("", "bad").under("a", 'b "c"\\', "$d", "", "7").path == 'a["b \\"c\\"\\\\"].$d[""]["7"]'


def test_no_path_no_colon() -> None:
    assert str(CodecError("", "bad")) == "bad"


def test_it_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(CodecError("a[0]", "bad")))
    assert (error.path, error.message) == ("a[0]", "bad")
