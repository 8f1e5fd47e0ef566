"""The input of a custom tool call as it streams: plain text, which the calls of Pi hold as one argument.

A tool with a grammar takes one text. The provider streams that text bare, but a call's deltas are the JSON text of its
arguments: so each piece is wrapped as a piece of `{"input":"…"}`. A delta costs no more than itself.
"""

from __future__ import annotations

from ..jsontext import print_json
from .exchange import ResponseFailedError


class GrammarInput:
    """One call's input. `append` and `close` give the next piece of the JSON text; None where there is none."""

    def __init__(self, parameter: str, begun: str) -> None:
        """`begun` is the text that came with the call itself; it is told with the first delta."""
        self.parameter = parameter
        self._pieces: list[str] = []
        self._started = False
        self._closed = False
        self._unsent = self._append(begun) or ""

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments so far."""
        self._pieces = ["".join(self._pieces)]
        return {self.parameter: self._pieces[0]}

    def append(self, text: str) -> str | None:
        """The input grows.

        Raises:
            ResponseFailedError: it was closed.
        """
        return self._sent(self._append(text))

    def close(self, whole: str | None) -> str | None:
        """The input is complete: it is `whole`, if that is known.

        Raises:
            ResponseFailedError: `whole` does not go on from what was said, or the input was closed as another one.
        """
        said = self.arguments[self.parameter]
        if self._closed:
            if whole is None or whole == said:
                return self._sent(None)
            raise self._changed("changed after it was closed")
        if whole is not None and not whole.startswith(said):
            raise self._changed("changed non-monotonically")
        rest = "" if whole is None else whole[len(said) :]
        self._pieces.append(rest)
        self._closed = True
        return self._sent(f'{self._opening()}{_escaped(rest)}"}}')

    def _append(self, text: str) -> str | None:
        if self._closed:
            raise self._changed("changed after it was closed")
        if not text:
            return None
        self._pieces.append(text)
        return self._opening() + _escaped(text)

    def _opening(self) -> str:
        """The beginning of the JSON text, once."""
        if self._started:
            return ""
        self._started = True
        return f'{{{print_json(self.parameter)}:"'

    def _sent(self, piece: str | None) -> str | None:
        if not self._unsent:
            return piece
        piece, self._unsent = self._unsent + (piece or ""), ""
        return piece

    def _changed(self, how: str) -> ResponseFailedError:
        return ResponseFailedError(f'grammar tool input for property "{self.parameter}" {how}')


def _escaped(text: str) -> str:
    return print_json(text)[1:-1]
