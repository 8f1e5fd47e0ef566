"""What a proxy's server would send of a response, for the tests of what a client makes of it."""

from __future__ import annotations

from itertools import chain, pairwise

from pi_trio.jsontext import print_json
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.proxy.lines import DataLines
from pi_trio.models.proxy.reader import ProxyReader
from pi_trio.models.proxy.telling import Telling
from pi_trio.models.scripted import DEFAULT_MODEL


def line(said):
    return f"data: {print_json(said)}\n\n".encode()


def sent(events):
    """The bytes for the events of a response."""
    telling = Telling()
    return b"".join(line(said) for event in events for said in telling.tell(event))


def read(data, *cuts, model=DEFAULT_MODEL):
    """The events that a client makes of bytes, which come cut at these places."""
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return read_pieces((data[begin:end] for begin, end in pairwise(places)), model)


def read_pieces(pieces, model=DEFAULT_MODEL):
    lines, reader = DataLines(), ProxyReader(model)
    events = []
    try:
        for raw in chain(*(lines.feed(piece) for piece in pieces), lines.end()):
            said = reader.parse(raw)
            events += () if said is None else reader.feed(said)
        return [*events, *reader.end()]
    except ResponseFailedError as error:
        return [*events, *reader.fail(str(error), aborted=False)]
