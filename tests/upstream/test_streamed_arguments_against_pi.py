"""Arguments as the releases up to 1.0.3 read them, against the real ones: every text cut off at every place."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

import pytest

from pi_trio.jsontext import print_json
from pi_trio.models.streamed_arguments import StreamedArguments, streamed_arguments

from ..models.arguments_so_far import TABLE
from .conftest import get
from .pure import called
from .test_scripted_against_pi import _bent, _text

pytestmark = pytest.mark.upstream

TEXTS = 300

#: Pieces of texts that are no JSON, but look like it.
SCRAPS = (
    *'{}[]:," \n\t\\', '"a"', '"b":', '"a":"', "1", "12.", "-", "1e", "1e5", "2ex", "3Ee", "1E2", "0x", "tr", "true",
    "null", "nul", "false", "NaN", "Na", "Infinity", "-Infinity", "-I", "Inf", "\\u00", "\\u0041", "\\uZZZZ", "\\q",
    "\\\\", '\\"', "\x01", "\ufeff", "\u00a0", "é😀", "word", "e", '"__proto__":', "{}", "[ ]", "{ }", "1e999",
    "12345678901234567890", "'a'", '"x\ny"', '"x\\\\ \n y"', '"x\\n \n y"', '{"a":1} ', '"\\u12', "\v", "\x1c", "\x85",
)  # fmt: skip


def pi_reads(release, texts):
    answers = called(get(release), "utils/json-parse.js", "parseStreamingJson", [[text] for text in texts])
    return [answer["value"] for answer in answers]


def scrappy(chance):
    beginning = chance.choice(
        ["", "", "", "{", '{"a":', "[", '{"a":"', '{"a":{"b":', '{"a":[', " {", '"', '{"k":1,']
    )
    return beginning + "".join(chance.choice(SCRAPS) for _ in range(chance.randint(1, 9)))


def texts():
    chance = random.Random(3)
    whole = [_text(chance) for _ in range(TEXTS)]
    return [*whole, *(_bent(chance, text) for text in whole), *(scrappy(chance) for _ in range(TEXTS * 8))]


def jumps(chance, text):
    """The text in pieces of some characters each."""
    places = sorted({0, len(text), *(chance.randint(0, len(text)) for _ in range(chance.choice([1, 3, 9])))})
    return [text[one:other] for one, other in pairwise(places)]


@pytest.mark.parametrize("release", ["0.85.0", "1.0.3"])
def test_the_table(release):
    assert pi_reads(release, [text for text, _ in TABLE]) == [arguments for _, arguments in TABLE]


@pytest.mark.parametrize(("release", "step"), [("0.85.0", 8), ("1.0.3", 1)])
def test_texts_cut_off_at_every_place(release, step):
    cut = {text[:length]: None for text in texts()[::step] for length in range(len(text) + 1)}
    assert len(cut) > 40_000 / step
    differences = [
        (text, arguments, mine)
        for text, arguments in zip(cut, pi_reads(release, cut), strict=True)
        if (mine := print_json(streamed_arguments(text))) != print_json(arguments)
    ]
    assert differences[:5] == []


@pytest.mark.parametrize("release", ["1.0.3"])
def test_texts_in_pieces(release):
    chance = random.Random(4)
    pieced = [jumps(chance, text) if chance.random() < 0.7 else list(text) for text in texts()]
    answers = iter(pi_reads(release, [text for pieces in pieced for text in accumulate(pieces)]))
    for pieces in pieced:
        streamed = StreamedArguments()
        expected = [next(answers) for _ in pieces]
        moments = [streamed.feed(piece) for piece in pieces]
        for place in chance.sample(range(len(pieces)), len(pieces)):
            shown = print_json(streamed.at(moments[place]))
            assert shown == print_json(expected[place]), pieces[: place + 1]
