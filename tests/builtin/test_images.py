"""Which images a model gets: those of the four formats that all providers take, and not too large ones."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from pi_trio.builtin import images
from pi_trio.builtin.dialect import TOOLS_0_85_0, TOOLS_1_6_0
from pi_trio.builtin.images import MAX_ENCODED, SNIFFED_BYTES, mime_type_of, shown

from .calling import call
from .cases.reading import BMP, GIF, JPEG, WEBP, png

TOO_LARGE = "[Image omitted: could not be resized below the inline image size limit.]"


def gif(width, height):
    return GIF[:6] + struct.pack("<HH", width, height) + GIF[10:]


def jpeg(width, height):
    """With a comment, a filling byte and a table before the frame."""
    head = b"\xff\xd8\xff\xfe\0\x04hi\xff\xff\xdb\0\x03\0"
    return head + b"\xff\xc2" + struct.pack(">HBHH", 11, 8, height, width) + b"\x01\x01\x11\0"


def webp_lossy(width, height):
    return b"RIFFxxxxWEBPVP8 xxxx\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height)


def webp_lossless(width, height):
    return b"RIFFxxxxWEBPVP8Lxxxx\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14)


def webp_extended(width, height):
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFFxxxxWEBPVP8Xxxxx\0\0\0\0" + sides


MAKERS: dict[str, list[Callable[[int, int], bytes]]] = {
    "image/png": [png],
    "image/gif": [gif],
    "image/jpeg": [jpeg],
    "image/webp": [webp_lossy, webp_lossless, webp_extended],
}
MADE = [(mime_type, make) for mime_type, makers in MAKERS.items() for make in makers]


@pytest.mark.parametrize(("mime_type", "make"), MADE)
def test_sides(mime_type, make):
    size_of = images._SIZES[mime_type]
    for width, height in ((1, 1), (3, 2000), (2000, 3), (2001, 7), (7, 2001)):
        image = make(width, height)
        assert mime_type_of(image[:SNIFFED_BYTES], TOOLS_1_6_0) == mime_type
        assert size_of(image) == (width, height)
        assert shown(image, mime_type).note == (TOO_LARGE if max(width, height) > 2000 else None)


@pytest.mark.parametrize(("mime_type", "make"), MADE)
def test_an_image_that_is_cut_is_left_out(mime_type, make):
    image = make(30, 20)
    for length in range(len(image)):
        cut = shown(image[:length], mime_type)
        assert (cut.data is None) == (cut.note == TOO_LARGE)
    assert shown(image[:12], mime_type).data is None or mime_type == "image/gif"


def test_a_file_that_is_too_large_is_left_out():
    image = png(1, 1)
    most = MAX_ENCODED // 4 * 3
    assert shown(image.ljust(most - 3, b"\0"), "image/png").data
    assert shown(image.ljust(most, b"\0"), "image/png").note == TOO_LARGE


async def test_little_is_read_of_a_file_that_is_too_large(tmp_path):
    with (tmp_path / "f.png").open("wb") as file:
        file.write(png(1, 1))
        file.truncate(1 << 40)  # a hole: nobody has so much
    called = await call("read", {"path": "f.png"}, tmp_path)
    assert called.text == f"Read image file [image/png]\n{TOO_LARGE}"


def test_types():
    assert [mime_type_of(one, TOOLS_1_6_0) for one in (GIF, JPEG, WEBP, BMP)] == [
        "image/gif",
        "image/jpeg",
        "image/webp",
        "image/bmp",
    ]
    assert [mime_type_of(b"GIF is", dialect) for dialect in (TOOLS_0_85_0, TOOLS_1_6_0)] == [
        "image/gif",
        None,
    ]
    assert shown(BMP, "image/bmp").note == (
        "[Image omitted: could not be converted to a supported inline image format.]"
    )
    for place, value in ((2, 20), (10, 53), (10, 58), (14, 39), (26, 2), (28, 5)):
        broken = BMP[:place] + struct.pack("<H", value) + BMP[place + 2 :]
        assert mime_type_of(broken, TOOLS_1_6_0) is None
    old = struct.pack("<2sIIIIHHHH", b"BM", 30, 0, 26, 12, 1, 1, 1, 24) + b"\0\0\0\0"
    assert mime_type_of(old, TOOLS_1_6_0) == "image/bmp"
