"""The message so far: an `AssistantMessage` to everybody, and no heavier than its delta."""

from __future__ import annotations

import copy
import pickle
import threading
import tracemalloc

import attrs
import pytest

from pi_trio.codec import dumps, structure, unstructure
from pi_trio.events import MessageUpdate, StreamEvent, TextDelta
from pi_trio.messages import AssistantMessage, TextContent, ToolCall
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.scripted import DEFAULT_MODEL


def delta(text="Hello"):
    """The event of a delta, which nobody has looked at."""
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=1)
    builder.start()
    builder.update(response_id="r")
    builder.text_start()
    return builder.text_delta(text)


PLAIN = attrs.evolve(delta().partial)


def test_it_is_a_message():
    partial = delta().partial
    assert isinstance(partial, AssistantMessage)
    assert (partial.role, partial.response_id, partial.stop_reason) == ("assistant", "r", "pending")
    assert partial.content == (TextContent(text="Hello"),)
    match delta().partial:
        case AssistantMessage(content=(TextContent(text=text),), usage=usage):
            assert (text, usage) == ("Hello", PLAIN.usage)
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize(
    "copied",
    [
        attrs.evolve,
        copy.copy,
        copy.deepcopy,
        lambda partial: pickle.loads(pickle.dumps(partial)),
        lambda partial: structure(unstructure(partial), AssistantMessage),
    ],
    ids=["evolve", "copy", "deepcopy", "pickle", "codec"],
)
def test_copies_are_plain_messages(copied):
    plain = copied(delta().partial)
    assert type(plain) is AssistantMessage
    assert plain == PLAIN


def test_a_changed_copy():
    aborted = attrs.evolve(delta().partial, stop_reason="aborted")
    assert aborted == attrs.evolve(PLAIN, stop_reason="aborted")


def test_equality():
    partial, same, other = delta().partial, delta().partial, delta("Bye").partial
    assert partial == partial  # noqa: PLR0124
    assert partial == same
    assert partial == PLAIN
    assert PLAIN == partial  # noqa: SIM300 - both sides are asked
    assert partial != other
    assert PLAIN != other  # noqa: SIM300
    assert other != PLAIN
    assert partial != "Hello"
    assert delta() == TextDelta(content_index=0, delta="Hello", partial=PLAIN)
    assert hash(partial) == hash(PLAIN)


def test_it_looks_like_a_message_in_print():
    assert repr(delta().partial) == repr(PLAIN)
    assert dumps(delta().partial) == dumps(PLAIN)
    event = delta()
    update = MessageUpdate(message=event.partial, assistant_message_event=event)
    assert structure(unstructure(update), MessageUpdate) == update
    assert structure(unstructure(event), StreamEvent) == event


def test_it_does_not_change():
    partial = delta().partial
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        partial.model = "other"
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        del partial.content
    assert partial.content is partial.content


def test_it_has_no_other_attributes():
    with pytest.raises(AttributeError, match="'AssistantMessage' object has no attribute 'contents'"):
        _ = delta().partial.contents


def test_partials_of_a_long_response_share_its_text():
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.text_start()
    piece = "x" * 1000
    tracemalloc.start()
    kept = [builder.text_delta(piece).partial for _ in range(2000)]  # 2 GB, if each had its own text
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6_000_000  # the text itself, and once more while it is put together
    assert held < 4_000_000
    assert [len(kept[at].content[0].text) for at in (1999, 0, 1000)] == [2_000_000, 1000, 1_001_000]


def test_looking_at_each_partial_reads_each_piece_once():
    read = 0

    class Piece(str):
        __slots__ = ()

    class Pieces(list):
        def __getitem__(self, which):
            nonlocal read
            found = super().__getitem__(which)
            read += len(found)
            return found

    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.toolcall_start("c", "f")
    object.__setattr__(builder._open[0], "pieces", Pieces())
    partials = []
    for piece in ('{"a":[', *["1,"] * 500):
        partials.append(builder.toolcall_delta(Piece(piece)).partial)
        _ = partials[-1].content
    for partial in reversed(partials):
        _ = partial._outline.content(partial._mark)
    assert read == 501


def test_threads_may_look_at_different_moments():
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.toolcall_start("c", "f")
    partials = [
        builder.toolcall_delta(piece).partial for piece in ('{"a":[0', *[f",{n}" for n in range(1, 60)])
    ]
    wrong: list[object] = []

    def look(order):
        for at in order:
            call = attrs.evolve(partials[at]).content[0]
            if call != ToolCall(id="c", name="f", arguments={"a": list(range(at + 1))}):
                wrong.append(call)

    orders = [range(60), reversed(range(60)), range(0, 60, 7), [59, 0, 59, 1]]
    threads = [threading.Thread(target=look, args=[order]) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_stands_where_is_found_whenever_it_is_looked_at():
    """Blocks that overlap, ended in another order than begun; each partial shows its own moment."""
    builder = ResponseBuilder(DEFAULT_MODEL)
    partials, expected = [builder.start().partial], [()]
    texts = ["", "", ""]
    for index in range(3):
        partials.append(builder.text_start().partial)
        expected.append(tuple(texts[: index + 1]))
    for index in (1, 0, 2, 1, 1, 0):
        texts[index] += str(index)
        partials.append(builder.text_delta(str(index), index).partial)
        expected.append(tuple(texts))
    for index in (1, 2, 0):
        texts[index] = "end"
        partials.append(builder.text_end(index, text="end").partial)
        expected.append(tuple(texts))
    for partial, shown in reversed([*zip(partials, expected, strict=True)]):
        assert tuple(block.text for block in partial.content) == shown


def test_a_block_costs_the_same_however_many_there_are():
    """Nothing is copied from one outline to the next."""
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    tracemalloc.start()
    kept = []
    for _ in range(2000):
        builder.text_start()
        kept.append(builder.text_end().partial)  # 16 MB, if each had its own tuple
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4_000_000
    assert [len(kept[at].content) for at in (1999, 0, 1000)] == [2000, 1, 1001]


def test_an_empty_delta_of_a_call_takes_nothing_back():
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=1)
    builder.start()
    builder.toolcall_start("c", "patch", arguments={"input": ""}, written=True)
    assert builder.toolcall_delta("").partial.content[0].arguments == {"input": ""}
    assert builder.toolcall_delta('{"input":"x').partial.content[0].arguments == {"input": "x"}
