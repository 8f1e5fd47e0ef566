"""One request over HTTP: tries, pauses, failures, aborts; and that its socket is closed whatever happens."""

from __future__ import annotations

import gc
import gzip
import logging
import zlib

import attrs
import pytest
import trio

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.models.http import PostRequest, new_client, post_stream
from pi_trio.models.transport_errors import (
    BodyFailedError,
    ConnectionFailedError,
    HeadersTimeoutError,
    MalformedAnswerError,
    RequestAbortedError,
    RetryTooLateError,
    StatusError,
    TransportError,
)
from pi_trio.models.tries import Retries

from .http_server import Reset, head, refusal, serving

KEY = "sk-very-secret"


def request_to(server, path="/v1", content=b"{}", **headers):
    return PostRequest(url=server.url + path, headers={"x-api-key": KEY, **headers}, content=content)


async def body_of(server, *, signal=None, **options):
    async with post_stream(request_to(server), signal=signal or AbortSignal(), **options) as answer:
        pieces = []
        while data := await answer.receive():
            pieces.append(data)
        return b"".join(pieces)


async def test_a_request_says_what_it_was_told_and_nothing_of_the_client():
    async with serving([head(), b"body"]) as server:
        async with post_stream(
            request_to(server, "/v1/messages?beta=true", "grün".encode(), accept="text/plain"),
            signal=AbortSignal(),
        ) as answer:
            assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
            assert await answer.receive() == b"body"
            assert await answer.receive() == b""
            assert await answer.receive() == b""
        (seen,) = server.requests
        assert (seen.target, seen.body.decode()) == ("/v1/messages?beta=true", "grün")
        assert seen.headers == {
            "host": server.url.removeprefix("http://"),
            "accept-encoding": "identity",
            "x-api-key": KEY,
            "accept": "text/plain",
            "content-length": "5",
        }


async def test_a_refusal_tells_its_status_headers_and_body():
    async with serving(refusal(400, '{"no": "ä"}', x_request_id="r1")) as server:
        with pytest.raises(StatusError) as refused:
            await body_of(server, retries=Retries(count=3))
        assert (refused.value.status, refused.value.body) == (400, '{"no": "ä"}')
        assert refused.value.headers["x-request-id"] == "r1"
        assert str(refused.value) == '400 {"no": "ä"}'
        assert len(server.requests) == 1


async def test_a_redirection_is_not_followed():
    """The key would go to a host that nobody has named."""
    async with serving([head()]) as other, serving(refusal(307, "", location=other.url)) as server:
        with pytest.raises(StatusError) as refused:
            await body_of(server)
        assert refused.value.status == 307
        assert other.requests == []


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_some_refusals_are_tried_again(status):
    async with serving(refusal(status, "busy", retry_after_ms="1"), [head(), b"ok"]) as server:
        assert await body_of(server, retries=Retries(count=1)) == b"ok"
        assert len(server.requests) == 2
    async with serving(refusal(status, "busy", retry_after_ms="1"), [head(), b"ok"]) as server:
        with pytest.raises(StatusError):
            await body_of(server, retries=Retries(count=1, never=frozenset({status})))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "told", "tries"), [(400, "true", 3), (429, "false", 1), (400, "maybe", 1)]
)
async def test_the_server_may_say_whether_to_try_again(status, told, tries):
    async with serving(refusal(status, "no", retry_after_ms="0", x_should_retry=told)) as server:
        with pytest.raises(StatusError):
            await body_of(server, retries=Retries(count=2))
        assert len(server.requests) == tries


async def test_a_pause_that_is_too_long_is_a_failure():
    async with serving(refusal(429, "busy", retry_after="120")) as server:
        with pytest.raises(RetryTooLateError) as late:
            await body_of(server, retries=Retries(count=1))
        assert (late.value.delay, late.value.limit, late.value.failure.body) == ("120", "60", "busy")


async def test_nobody_answers():
    async with serving([head()]) as server:
        pass
    with pytest.raises(ConnectionFailedError) as failed:
        await body_of(server)
    assert failed.value.cause


@pytest.mark.parametrize("script", [[], [Reset], [b"HTTP/1.1 2"], [b"no HTTP at all\r\n\r\n"]])
async def test_what_breaks_before_the_answer_is_a_failed_connection(script):
    async with serving(script, [head(), b"ok"]) as server:
        with pytest.raises(ConnectionFailedError):
            await body_of(server)
    async with serving(script, [head(), b"ok"]) as server:
        assert await body_of(server, retries=Retries(count=1)) == b"ok"


@pytest.mark.parametrize("url", ["", "/v1", "ftp://localhost/", "http://[::1", "http://"])
async def test_a_url_that_is_none(url):
    with pytest.raises(ConnectionFailedError):
        async with post_stream(PostRequest(url=url, headers={}, content=b""), signal=AbortSignal()):
            pass


@pytest.mark.parametrize("user", ["me:secret", "me", ":secret", "me:sec%40ret", "me:sec@ret", ""])
async def test_a_url_with_a_user_goes_nowhere(user):
    """The client would send a password in place of the key, in the same header."""
    async with serving([head()]) as server:
        url = server.url.replace("//", f"//{user}@") + "/v1"
        request = PostRequest(url=url, headers={"authorization": KEY}, content=b"")
        with pytest.raises(TransportError, match="the address of a provider has no user") as failed:
            async with post_stream(request, signal=AbortSignal(), retries=Retries(count=3)):
                pass
        assert server.requests == []
        assert "ret" not in f"{failed.value!r} {request!r}"


async def test_headers_have_a_time_limit(autojump_clock):
    async with serving([trio.Event()]) as server:
        with pytest.raises(HeadersTimeoutError):
            await body_of(server, timeout_ms=5_000)
        await server.until(lambda it: it.closed == 1)


async def test_the_body_has_none():
    more = trio.Event()
    async with serving([head(), b"a", more, b"b"]) as server, trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _later():
            await trio.testing.wait_all_tasks_blocked(0.01)
            more.set()

        assert await body_of(server, timeout_ms=1_000) == b"ab"


@pytest.mark.parametrize(
    "script",
    [
        [head(), b"a", Reset],
        [head(transfer_encoding="chunked"), b"1\r\na\r\n"],
        [head(transfer_encoding="chunked"), b"1\r\na\r\nnonsense\r\n"],
        [head(content_length="5"), b"a"],
    ],
)
async def test_a_body_may_break(script):
    held = trio.Event()
    async with serving([*script[:2], held, *script[2:]]) as server:
        async with post_stream(request_to(server), signal=AbortSignal(), retries=Retries(count=5)) as answer:
            assert await answer.receive() == b"a"
            held.set()
            with pytest.raises(BodyFailedError):
                await answer.receive()
        assert len(server.requests) == 1


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
async def test_a_body_that_was_compressed_unasked(pack):
    packed = pack(b"abc" * 1000)
    encoding = "gzip" if pack is gzip.compress else "deflate"
    async with serving([head(content_encoding=encoding), packed[:5], packed[5:]]) as server:
        assert await body_of(server) == b"abc" * 1000
    async with serving([head(content_encoding=encoding), b"nonsense"]) as server:
        with pytest.raises(BodyFailedError):
            await body_of(server)


def raw_deflate(data):
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


BODY = b"abc" * 1000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("GZip", gzip.compress(BODY)),
        ("deflate", raw_deflate(BODY)),
        ("Deflate", zlib.compress(BODY) + b"more"),
        ("gzip", gzip.compress(BODY[:99]) + gzip.compress(b"") + gzip.compress(BODY[99:])),
        ("gzip", gzip.compress(BODY) + bytes(100)),
        ("gzip", gzip.compress(BODY)[:-4]),
        ("Identity", BODY),
        ("utf-8", BODY),
    ],
)
@pytest.mark.parametrize("cuts", [1, 40])
async def test_ways_of_being_compressed(encoding, packed, cuts):
    size = len(packed) // cuts + 1
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    async with serving([head(content_encoding=encoding), *pieces]) as server:
        assert await body_of(server) == BODY


async def test_a_way_that_nobody_knows_is_named():
    async with serving([head(content_encoding="br"), b"\x8b\x01\x80"]) as server:
        with pytest.raises(MalformedAnswerError, match="the answer cannot be read: it is encoded as br"):
            await body_of(server)
    async with serving(refusal(401, "?", content_encoding="zstd")) as server:
        with pytest.raises(StatusError, match="401 the answer cannot be read: it is encoded as zstd"):
            await body_of(server)


async def test_what_is_packed_into_little_comes_in_pieces():
    packed = gzip.compress(bytes(50_000_000))
    async with (
        serving([head(content_encoding="gzip"), packed]) as server,
        post_stream(request_to(server), signal=AbortSignal()) as answer,
    ):
        size = 0
        while data := await answer.receive():
            assert len(data) <= 65536
            size += len(data)
        assert size == 50_000_000


async def test_between_the_pieces_an_abort_is_heard():
    controller = AbortController()
    async with (
        serving([head(content_encoding="gzip"), gzip.compress(bytes(50_000_000))]) as server,
        post_stream(request_to(server), signal=controller.signal) as answer,
        trio.open_nursery() as nursery,
    ):
        assert await answer.receive()
        nursery.start_soon(abort_now, controller)
        with pytest.raises(RequestAbortedError):
            for _ in range(5):
                assert await answer.receive()


async def abort_now(controller):
    controller.abort()


@pytest.mark.parametrize("packed", [False, True])
async def test_of_a_long_refusal_the_beginning_is_told(packed):
    said = ("ä" * 32_000).encode()
    for body, told in [(said + b"x" * 1536, None), (b"x" + said * 100, "x" + "ä" * 32_767 + "…")]:
        content = gzip.compress(body) if packed else body
        headers = {"content_encoding": "gzip"} if packed else {}
        script = [head(400, **headers), content, *([] if told is None or packed else [trio.Event()])]
        async with serving(script) as server:
            with pytest.raises(StatusError) as refused:
                await body_of(server)
            assert refused.value.body == (told or body.decode())


# --- leaving ----------------------------------------------------------------------------------------------


async def abort_soon(nursery, controller):
    @nursery.start_soon
    async def _abort():
        await trio.testing.wait_all_tasks_blocked(0.01)
        controller.abort()


async def test_an_abort_ends_the_wait_for_the_answer():
    controller = AbortController()
    async with serving([trio.Event()]) as server, trio.open_nursery() as nursery:
        await abort_soon(nursery, controller)
        with pytest.raises(RequestAbortedError) as aborted:
            await body_of(server, signal=controller.signal)
        assert aborted.value.while_waiting == "answer"
        await server.until(lambda it: it.closed == 1)


async def test_an_abort_ends_the_wait_for_the_next_try():
    controller = AbortController()
    async with serving(refusal(429, "", retry_after="50")) as server, trio.open_nursery() as nursery:
        await abort_soon(nursery, controller)
        with pytest.raises(RequestAbortedError):
            await body_of(server, signal=controller.signal, retries=Retries(count=1))


async def test_an_abort_ends_the_wait_for_the_body_of_a_refusal():
    controller = AbortController()
    async with serving([head(500), b"half", trio.Event()]) as server, trio.open_nursery() as nursery:
        await abort_soon(nursery, controller)
        with pytest.raises(RequestAbortedError):
            await body_of(server, signal=controller.signal)
        await server.until(lambda it: it.closed == 1)


async def test_an_abort_ends_the_wait_for_the_body():
    controller = AbortController()
    async with serving([head(), b"a", trio.Event()]) as server, trio.open_nursery() as nursery:
        async with post_stream(request_to(server), signal=controller.signal) as answer:
            assert await answer.receive() == b"a"
            await abort_soon(nursery, controller)
            with pytest.raises(RequestAbortedError) as aborted:
                await answer.receive()
            assert aborted.value.while_waiting == "body"
            with pytest.raises(RequestAbortedError) as aborted:
                await answer.receive()
            assert aborted.value.while_waiting == "nothing"
        await server.until(lambda it: it.closed == 1)


async def test_an_abort_before_the_request_sends_nothing():
    controller = AbortController()
    controller.abort()
    async with serving([head()]) as server:
        with pytest.raises(RequestAbortedError):
            await body_of(server, signal=controller.signal)
        assert server.requests == []


@pytest.mark.parametrize("script", [[trio.Event()], [head(), b"a", trio.Event()], [head(500), trio.Event()]])
@pytest.mark.parametrize("shared", [False, True])
async def test_a_cancellation_closes_the_socket(script, shared):
    async with serving(script) as server, new_client() as client:
        with trio.move_on_after(60) as scope:
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def _cancel():
                    await trio.testing.wait_all_tasks_blocked(0.01)
                    scope.cancel()

                await body_of(server, client=client if shared else None)
        assert scope.cancelled_caught
        await server.until(lambda it: it.closed == 1)


@pytest.mark.parametrize("chunked", [False, True])
async def test_leaving_early_closes_the_socket(chunked):
    body = [head(transfer_encoding="chunked"), b"1\r\na\r\n1\r\nb\r\n"] if chunked else [head(), b"a"]
    async with serving([*body, trio.Event()]) as server:
        async with post_stream(request_to(server), signal=AbortSignal()) as answer:
            assert await answer.receive() == b"a"
        await server.until(lambda it: it.closed == 1)
        with pytest.raises(LookupError):
            async with post_stream(request_to(server), signal=AbortSignal()):
                raise LookupError
        await server.until(lambda it: it.closed == 2)


async def test_a_client_is_shared_by_who_brings_it():
    async with serving([*refusal(200, "ok")]) as server, new_client() as client:
        assert await body_of(server, client=client) == b"ok"
        assert await body_of(server, client=client) == b"ok"


# --- secrets ----------------------------------------------------------------------------------------------


async def test_a_key_is_in_no_text(caplog):
    caplog.set_level(logging.DEBUG)
    async with serving([head()]) as server:
        assert KEY not in repr(request_to(server, content=KEY.encode()))
        for bad in ("\nx", "\0", "\u20ac"):
            with pytest.raises(ConnectionFailedError) as failed:
                async with post_stream(request_to(server, authorization=KEY + bad), signal=AbortSignal()):
                    pass
            assert failed.value.cause == "a header cannot be sent"
            assert failed.value.__context__ is None
            assert KEY not in caplog.text


async def test_white_space_around_a_key_is_not_sent():
    async with serving([head()]) as server:
        async with post_stream(request_to(server, authorization=f" {KEY}\r\n"), signal=AbortSignal()):
            pass
        assert server.requests[0].headers["authorization"] == KEY


async def test_a_request_that_is_cut_off_while_it_is_sent_leaves_nothing():
    """Ended after so many passes of the scheduler: nothing that httpx has begun is left to the garbage collector."""
    request = PostRequest(url="", headers={}, content=b"x" * 10_000_000)  # more than a socket takes at once
    async with serving([trio.Event()]) as server:
        for passes in range(0, 40, 3):
            controller = AbortController()
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def end(passes=passes, controller=controller):
                    for _ in range(passes):
                        await trio.lowlevel.checkpoint()
                    controller.abort()

                with pytest.raises(RequestAbortedError):
                    async with post_stream(attrs.evolve(request, url=server.url), signal=controller.signal):
                        pass
            gc.collect()
            await server.until(lambda server: not server.open)
