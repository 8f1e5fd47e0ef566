"""Images that can be shown to a model: which files are some, and which are small enough.

A model gets an image as it is in its file. Providers refuse those that are too large, or in other formats than the four
that all of them take; so these are left out, with the text that Pi has where it cannot make them smaller. (It mostly
can, by a library of its own.)
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from .dialect import ToolDialect

#: So much of a file tells what it is.
SNIFFED_BYTES: Final = 4100
MAX_SIDE: Final = 2000
#: Of the image in base64.
MAX_ENCODED: Final = int(4.5 * 1024 * 1024)

_TOO_LARGE: Final = "[Image omitted: could not be resized below the inline image size limit.]"
_OTHER_FORMAT: Final = "[Image omitted: could not be converted to a supported inline image format.]"

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_BMP_HEADERS: Final = range(40, 125)
_BMP_DEPTHS: Final = (1, 4, 8, 16, 24, 32)
#: The markers of JPEG that begin a frame; the three in between mean something else.
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@attrs.frozen
class ShownImage:
    """An image that the model gets, in base64, or a text in its place."""

    data: str | None
    note: str | None = None


def mime_type_of(head: bytes, dialect: ToolDialect) -> str | None:
    """The type of the image that begins with `head`; None if that is no image, or an animated PNG.

    Args:
        head: the first `SNIFFED_BYTES` of a file.
    """
    gif = (b"GIF",) if dialect.gif_magic == "prefix" else (b"GIF87a", b"GIF89a")
    if head.startswith(b"\xff\xd8\xff"):
        return (
            None if head[3:4] == b"\xf7" else "image/jpeg"
        )  # the exception is lossless, and nobody takes it
    if head.startswith(_PNG):
        return "image/png" if head[8:16] == b"\0\0\0\x0dIHDR" and not _is_animated(head) else None
    if head.startswith(gif):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return "image/bmp" if head.startswith(b"BM") and _is_bmp(head) else None


def shown(content: bytes, mime_type: str) -> ShownImage:
    """What the model gets of the image in a file.

    Args:
        content: of the whole file; of one that is too large anyway, more than `MAX_ENCODED` bytes will do.
        mime_type: as `mime_type_of` says.
    """
    size_of = _SIZES.get(mime_type)
    if size_of is None:
        return ShownImage(None, _OTHER_FORMAT)
    try:
        width, height = size_of(content)
    except (struct.error, ValueError):
        return ShownImage(None, _TOO_LARGE)
    encoded = -(-len(content) // 3) * 4
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE) or encoded >= MAX_ENCODED:
        return ShownImage(None, _TOO_LARGE)
    return ShownImage(b64encode(content).decode())


def _chunks(content: bytes) -> Iterator[bytes]:
    """The types of a PNG's chunks, as far as they are there."""
    place = len(_PNG)
    while place + 8 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        yield content[place + 4 : place + 8]
        place += length + 12


def _is_animated(head: bytes) -> bool:
    return next((kind for kind in _chunks(head) if kind in (b"acTL", b"IDAT")), b"") == b"acTL"


def _is_bmp(head: bytes) -> bool:
    if len(head) < 26:
        return False
    size, pixels, header = struct.unpack_from("<I4xII", head, 2)
    if header == 12:
        planes, depth = struct.unpack_from("<HH", head, 22)
    elif header in _BMP_HEADERS and len(head) >= 30:
        planes, depth = struct.unpack_from("<HH", head, 26)
    else:
        return False
    fits = pixels >= 14 + header and (size == 0 or (size >= 26 and pixels < size))
    return fits and planes == 1 and depth in _BMP_DEPTHS


def _png_size(content: bytes) -> tuple[int, int]:
    return struct.unpack_from(">II", content, 16)


def _gif_size(content: bytes) -> tuple[int, int]:
    return struct.unpack_from("<HH", content, 6)


def _jpeg_size(content: bytes) -> tuple[int, int]:
    place = 2
    while True:
        fill, marker, length = struct.unpack_from(">BBH", content, place)
        if fill != 0xFF:
            raise ValueError("no marker where one should be")
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return width, height
        place += 1 if marker == 0xFF else 2 + length


def _webp_size(content: bytes) -> tuple[int, int]:
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X" and len(content) >= 30:
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    raise ValueError("no image in it")


_SIZES: Final[Mapping[str, Callable[[bytes], tuple[int, int]]]] = MappingProxyType(
    {
        "image/png": _png_size,
        "image/gif": _gif_size,
        "image/jpeg": _jpeg_size,
        "image/webp": _webp_size,
    }
)
