"""Calls of `read` and `write`."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .case import Case, in_all
from .texts import FILES, some_text

_RANGES: Final[tuple[Mapping[str, Any], ...]] = (
    {}, {"offset": 1}, {"offset": 2}, {"limit": 1}, {"limit": 0}, {"offset": 0}, {"offset": -3}, {"limit": 2000},
    {"offset": 3, "limit": 2}, {"offset": 4}, {"offset": 1000000}, {"limit": -1}, {"offset": 1.5}, {"limit": 1.5},
    {"offset": 0.5, "limit": 1}, {"offset": 2000}, {"offset": 1990, "limit": 5}, {"limit": 1e300}, {"offset": 2**60},
)  # fmt: skip


def png(width: int, height: int, *, extra: bytes = b"", valid: bool = True) -> bytes:
    """An image of one colour, with another chunk before its data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"".join(b"\0" + b"\x20\x80\xf0" * width for _ in range(height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", rows if valid else b"nonsense")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + data + chunk(b"IEND", b"")


BMP: Final = (
    struct.pack("<2sIIIIiiHHIIiiII", b"BM", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + b"\0\0\xff\0"
)
GIF: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP: Final = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
JPEG: Final = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8Q"
    "EBD/yQALCAABAAEBAREA/8wABgAQEAX/2gAIAQEAAD8A0s8g/9k="
)
_ANIMATED: Final = struct.pack(">I", 8) + b"acTL" + bytes(8) + bytes(4)

_IMAGES: Final[Mapping[str, bytes]] = {
    "small.png": png(2, 3),
    "text_in_name.txt": png(1, 1),
    "widest.png": png(2000, 1),
    "tiny.gif": GIF,
    "tiny.webp": WEBP,
    "animated.png": png(1, 1, extra=_ANIMATED),
    "head_only.png": b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
    "no_head.png": b"\x89PNG\r\n\x1a\n and text",
    "almost.bmp": b"BMxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "lossless.jpg": b"\xff\xd8\xff\xf7 text",
    "gif.txt": b"GIF is a format\n",
    "riff.txt": b"RIFFxxxxWAVE\n",
    "short.jpg": b"\xff\xd8\xff\xe0\0",
}


def reads() -> Iterator[Case]:
    """Calls of `read`."""
    for name, content in FILES.items():
        for index, chosen in enumerate(_RANGES if name in _OFTEN else _RANGES[:4]):
            yield _read(f"{name}_{index}", {"path": "f", **chosen}, {"f": content})
    for name, content in _IMAGES.items():
        yield _read(f"image_{name}", {"path": name}, {name: content})
    for name, content, decision in (
        ("bmp", BMP, "B-04"), ("wider.png", png(2001, 1), "B-04"), ("broken.png", png(1, 1, valid=False), "B-05"),
    ):  # fmt: skip
        yield _read(f"image_{name}", {"path": "f"}, {"f": content}, otherwise=in_all(decision))
    yield from _odd_paths()
    yield from generated_reads(3, 80)


def generated_reads(seed: int, count: int) -> Iterator[Case]:
    """Calls of `read`, of small files."""
    chance = random.Random(seed)
    for index in range(count):
        content = some_text(chance, chance.randint(0, 12), chance.choice(["\n", "\n", "\r\n"])).encode()
        args = {"offset": chance.randint(-1, 14), "limit": chance.randint(-2, 14)}
        kept = {key: value for key, value in args.items() if chance.random() < 0.7}
        yield _read(f"generated_{index}", {"path": "f", **kept}, {"f": content})


#: The files of which every range is read.
_OFTEN: Final = ("empty", "three_lines", "three", "crlf", "lines_5000", "long_second", "large")


def _read(name: str, args: Mapping[str, Any], files: Mapping[str, Any] | None = None, **more: Any) -> Case:
    return Case(name=f"read_{name}", tool="read", args=args, files=files or {}, **more)


def _odd_paths() -> Iterator[Case]:
    hello = {"sub/hello.txt": b"hello\n"}
    paths = (
        "sub/hello.txt", "@sub/hello.txt", "./sub/../sub/hello.txt", "sub//hello.txt", "sub/hello.txt/", "sub", "",
        ".", "nothing", "sub/nothing", "sub/hello.txt/below", "@", "~nobody/x", "x" * 300, "sub/\ud800",
        " sub/hello.txt",
    )  # fmt: skip
    for index, path in enumerate(paths):
        yield _read(f"path_{index}", {"path": path}, hello)
    for name, found, asked in (
        ("space", "a b.txt", "a\u00a0b.txt"),
        ("screenshot", "Shot at 9.41\u202fAM.txt", "Shot at 9.41 AM.txt"),
        ("screenshot_pm", "Shot 1 \u202fpm.txt", "Shot 1  pm.txt"),
        ("decomposed", "cafe\u0301.txt", "caf\u00e9.txt"),
        ("decomposed_straight", "it's cafe\u0301.txt", "it's caf\u00e9.txt"),
        ("curly", "it\u2019s.txt", "it's.txt"),
        ("both", "d\u2019e\u0301cran.txt", "d'\u00e9cran.txt"),
    ):
        yield _read(f"name_{name}", {"path": asked}, {found: b"found\n"})
    yield _read("link", {"path": "l"}, {**hello, "l": "sub/hello.txt"})
    yield _read("link_to_nothing", {"path": "l"}, {"l": "nothing"})
    yield _read("link_to_itself", {"path": "l"}, {"l": "l"})
    yield _read("aborted_before", {"path": "sub/hello.txt"}, hello, abort_at="")
    yield _read("nul", {"path": "a\0b"}, otherwise=in_all("B-06"))
    for url in ("file://host/x", "file:///a%2Fb"):
        yield _read(f"url_{url[7]}", {"path": url}, otherwise=in_all("B-06"))
    yield _read("url_of_nothing", {"path": "file:///no%20such%20file?a#b"})
    yield _read("null_device", {"path": "/dev/null"}, otherwise=in_all("B-03"))


def writes() -> Iterator[Case]:
    """Calls of `write`."""
    contents = (
        "",
        "text",
        "text\n",
        "a\r\nb\n",
        "\ufeffmarked",
        "naïve 😀",
        "a lone \ud83d",
        "x" * 100000,
        "a\0b",
    )
    for index, content in enumerate(contents):
        yield _write(f"content_{index}", {"path": "f", "content": content})
        yield _write(
            f"over_{index}", {"path": "f", "content": content}, {"f": b"what was there before, and longer"}
        )
    hello: dict[str, bytes | str | None] = {"sub/hello.txt": b"hello\n"}
    paths = (
        "new/deep/er/f", "./f", "sub", "sub/", "sub/hello.txt/below", "sub/hello.txt/far/below", "", "x" * 300,
        "/proc/nothing", "@f", "a\u00a0b", "sub/../a\0b",
    )  # fmt: skip
    for index, path in enumerate(paths):
        otherwise = in_all("B-06") if "\0" in path else {}
        yield _write(f"path_{index}", {"path": path, "content": "x"}, hello, otherwise=otherwise)
    yield _write("link", {"path": "l", "content": "x"}, {**hello, "l": "sub/hello.txt"})
    yield _write("link_to_nothing", {"path": "l", "content": "x"}, {"l": "made"})
    yield _write("link_to_itself", {"path": "l", "content": "x"}, {"l": "l"})
    yield _write("below_link_to_itself", {"path": "l/f", "content": "x"}, {"l": "l"})
    yield _write("below_dangling_link", {"path": "l/f", "content": "x"}, {"l": "nothing"})
    yield _write("aborted_before", {"path": "f", "content": "x"}, abort_at="")


def _write(name: str, args: Mapping[str, Any], files: Mapping[str, Any] | None = None, **more: Any) -> Case:
    return Case(name=f"write_{name}", tool="write", args=args, files=files or {}, **more)
